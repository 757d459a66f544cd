package input

import (
	"time"

	"labshelf/repository/core"
	"labshelf/repository/maintenance"
)

// PurgeOptions decodes olderThan, and the optional dryRun and grace.
func PurgeOptions(f Object, grace time.Duration) (o maintenance.PurgeOptions, err error) {
	if _, err := required(f, "olderThan"); err != nil {
		return o, err
	}
	o.Grace = grace
	dry := new(bool)
	err = members{"olderThan": age(&o.OlderThan), "dryRun": truth(&dry), "grace": age(&o.Grace)}.read(f)
	o.DryRun = *dry
	return o, err
}

// CheckOptions decodes the optional noData and subset.
func CheckOptions(f Object) (o maintenance.CheckOptions, err error) {
	noData := new(bool)
	err = members{
		"noData": truth(&noData),
		"subset": func(field string, value any) error {
			s, err := str(field, value)
			if err != nil {
				return err
			}
			if o.Subset, err = maintenance.ParseSubset(s); err != nil {
				return core.Invalid(field, "%s must be n/t, the nth of t parts, such as 2/10", field)
			}
			return nil
		},
	}.read(f)
	o.NoData = *noData
	return o, err
}

// age reads a duration.
func age(at *time.Duration) func(string, any) error {
	return func(field string, value any) error {
		s, err := str(field, value)
		if err != nil {
			return err
		}
		if *at, err = maintenance.ParseAge(s); err != nil {
			return core.Invalid(field, "%s must be %v", field, err)
		}
		return nil
	}
}
