package repository

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// Upkeep is for sysadmins, while the service runs.
func (s *Service) Upkeep(ctx context.Context, p auth.Principal) (*maintenance.Upkeep, error) {
	err := s.view(ctx, p, func(_ *metadata.Tx, p auth.Principal) error { return onlySysadmin(p) })
	if err != nil {
		return nil, err
	}
	return s.upkeep, nil
}

// PurgeOptions reads what a request for a purge says: olderThan, which it must say, dryRun and grace. A grace left out is that
// of the service's configuration.
func (s *Service) PurgeOptions(f Fields) (maintenance.PurgeOptions, error) {
	if _, err := f.required("olderThan"); err != nil {
		return maintenance.PurgeOptions{}, err
	}
	o := maintenance.PurgeOptions{Grace: s.config.TrashGrace}
	err := create(&o, f, purgeFields)
	return o, err
}

// CheckOptions reads what a request for a check says: noData and subset, both of which may be left out.
func (s *Service) CheckOptions(f Fields) (o maintenance.CheckOptions, err error) {
	err = create(&o, f, checkFields)
	return o, err
}

var purgeFields = setters[maintenance.PurgeOptions]{
	"olderThan": ageSetter(func(o *maintenance.PurgeOptions) *time.Duration { return &o.OlderThan }),
	"dryRun":    boolSetter(func(o *maintenance.PurgeOptions) *bool { return &o.DryRun }),
	"grace":     ageSetter(func(o *maintenance.PurgeOptions) *time.Duration { return &o.Grace }),
}

var checkFields = setters[maintenance.CheckOptions]{
	"noData": boolSetter(func(o *maintenance.CheckOptions) *bool { return &o.NoData }),
	"subset": func(o *maintenance.CheckOptions, field string, value any) error {
		s, err := stringValue(field, value)
		if err != nil {
			return err
		}
		if o.Subset, err = maintenance.ParseSubset(s); err != nil {
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

var errAge = errors.New("a length of time such as 90d, 36h, 1d12h or 1h30m, not negative")

// ParseAge reads a length of time as operators write it: a Go duration, which may begin with days of 24 hours (90d, 1.5d,
// 1d12h). The error states the rule and does not repeat the text.
func ParseAge(text string) (time.Duration, error) {
	var age time.Duration
	if number, rest, ok := strings.Cut(text, "d"); ok {
		hours, err := time.ParseDuration(number + "h")
		if err != nil || strings.Trim(number, "0123456789.") != "" || hours > math.MaxInt64/24 {
			return 0, errAge
		}
		if age, text = 24*hours, rest; rest == "" {
			return age, nil
		}
	}
	rest, err := time.ParseDuration(text)
	if err != nil || rest < 0 || rest > math.MaxInt64-age {
		return 0, errAge
	}
	return age + rest, nil
}
