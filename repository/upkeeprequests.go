package repository

import "time"

// PurgeOptions reads what a request for a purge says: olderThan, which it must say, dryRun and grace. A grace left out is that
// of the service's configuration.
func (u *Upkeep) PurgeOptions(f Fields) (PurgeOptions, error) {
	if _, err := f.required("olderThan"); err != nil {
		return PurgeOptions{}, err
	}
	o := PurgeOptions{Grace: u.TrashGrace()}
	err := create(&o, f, purgeFields)
	return o, err
}

// CheckOptions reads what a request for a check says: noData and subset, both of which may be left out.
func (u *Upkeep) CheckOptions(f Fields) (o CheckOptions, err error) {
	err = create(&o, f, checkFields)
	return o, err
}

var purgeFields = setters[PurgeOptions]{
	"olderThan": ageSetter(func(o *PurgeOptions) *time.Duration { return &o.OlderThan }),
	"dryRun":    boolSetter(func(o *PurgeOptions) *bool { return &o.DryRun }),
	"grace":     ageSetter(func(o *PurgeOptions) *time.Duration { return &o.Grace }),
}

var checkFields = setters[CheckOptions]{
	"noData": boolSetter(func(o *CheckOptions) *bool { return &o.NoData }),
	"subset": func(o *CheckOptions, field string, value any) error {
		s, err := stringValue(field, value)
		if err != nil {
			return err
		}
		if o.Subset, err = ParseSubset(s); err != nil {
			return invalid(field, "%s must be n/t, the nth of t parts, such as 2/10", field)
		}
		return nil
	},
}

// ageSetter sets a length of time.
func ageSetter[T any](at func(*T) *time.Duration) func(*T, string, any) error {
	return func(object *T, field string, value any) error {
		s, err := stringValue(field, value)
		if err != nil {
			return err
		}
		if *at(object), err = ParseAge(s); err != nil {
			return invalid(field, "%s must be %v", field, err)
		}
		return nil
	}
}
