package containers

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// UsageSummary is the present usage of one or several dataspaces, and its history.
type UsageSummary struct {
	metadata.Counters
	Days       []metadata.DayCounters // ascending; the totals at the end of each day with a change
	Dataspaces []DataspaceCounters
	Quota      int64 // of a single dataspace, if the caller may see it; 0 for none
}

// DataspaceCounters are the counters of one dataspace.
type DataspaceCounters struct {
	DataspaceID metadata.ID
	metadata.Counters
	Quota int64 // as in UsageSummary
}

// DataspaceUsage returns the usage of one dataspace, without Dataspaces.
func (s *Dataspaces) DataspaceUsage(ctx context.Context, p auth.Principal, id string) (u UsageSummary, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		dataspace, err := core.ReadableDataspace(tx, p, id)
		if err != nil {
			return err
		}
		if u, err = usageOf(tx, p, []metadata.ID{dataspace}); err == nil {
			u.Quota, u.Dataspaces = u.Dataspaces[0].Quota, nil
		}
		return err
	})
	return u, err
}

// Usage returns the usage of all dataspaces that the caller may read.
func (s *Dataspaces) Usage(ctx context.Context, p auth.Principal) (u UsageSummary, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		ids, err := core.Readable(tx, p, metadata.ID{})
		if err != nil {
			return err
		}
		if ids == nil {
			for d, err := range tx.Dataspaces.All(metadata.ID{}) {
				if err != nil {
					return err
				}
				ids = append(ids, d.ID)
			}
		}
		u, err = usageOf(tx, p, ids)
		return err
	})
	return u, err
}

// usageOf adds up the counters of several dataspaces. For a day on which only some of them changed,
// it uses the earlier counters of the others.
func usageOf(tx *metadata.Tx, p auth.Principal, dataspaces []metadata.ID) (UsageSummary, error) {
	u := UsageSummary{Dataspaces: []DataspaceCounters{}, Days: []metadata.DayCounters{}}
	changes := map[metadata.Day]metadata.Counters{}
	for _, id := range dataspaces {
		counters, err := rows.Counters(tx, id)
		if err != nil {
			return u, err
		}
		u.Counters = u.Add(counters)
		shown, err := quotaShown(tx, p, id)
		if err != nil {
			return u, err
		}
		u.Dataspaces = append(u.Dataspaces, DataspaceCounters{id, counters, shown})
		var before metadata.Counters
		for day, err := range tx.Usage.Days(id) {
			if err != nil {
				return u, err
			}
			changes[day.Day] = changes[day.Day].Add(day.Counters).Add(before.Negated())
			before = day.Counters
		}
		if before != counters {
			return u, fmt.Errorf("%w: the usage of dataspace %s differs from the usage of its last day", metadata.ErrRecordDamaged, id)
		}
	}
	var sum metadata.Counters
	for _, day := range slices.Sorted(maps.Keys(changes)) {
		sum = sum.Add(changes[day])
		u.Days = append(u.Days, metadata.DayCounters{Day: day, Counters: sum})
	}
	return u, nil
}
