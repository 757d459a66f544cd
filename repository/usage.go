package repository

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"labshelf/auth"
	"labshelf/paging"
)

// UsageSummary is how much is kept, in a dataspace or in several, and how that came to be.
type UsageSummary struct {
	Counters
	Days       []DayCounters // ascending; the sums at the end of each day on which one of them changed
	Dataspaces []DataspaceCounters
}

// DataspaceCounters are the counters of one dataspace.
type DataspaceCounters struct {
	DataspaceID ID
	Counters
}

// DataspaceUsage returns the usage of one dataspace, without Dataspaces.
func (s *Service) DataspaceUsage(ctx context.Context, p auth.Principal, id string) (u UsageSummary, err error) {
	err = s.view(ctx, p, func(tx *Tx, p auth.Principal) error {
		dataspace, err := readableDataspace(tx, p, id)
		if err != nil {
			return err
		}
		u, err = usageOf(tx, []ID{dataspace})
		u.Dataspaces = nil
		return err
	})
	return u, err
}

// Usage returns the usage of all dataspaces that the caller may read.
func (s *Service) Usage(ctx context.Context, p auth.Principal) (u UsageSummary, err error) {
	err = s.view(ctx, p, func(tx *Tx, p auth.Principal) error {
		ids, err := readable(tx, p, ID{})
		if err != nil {
			return err
		}
		if ids == nil {
			for d, err := range tx.Dataspaces.All(ID{}) {
				if err != nil {
					return err
				}
				ids = append(ids, d.ID)
			}
		}
		u, err = usageOf(tx, ids)
		return err
	})
	return u, err
}

// usageOf sums the counters of several dataspaces. A day on which only some of them changed counts the others as they were.
func usageOf(tx *Tx, dataspaces []ID) (UsageSummary, error) {
	u := UsageSummary{Dataspaces: []DataspaceCounters{}, Days: []DayCounters{}}
	changes := map[Day]Counters{}
	for _, id := range dataspaces {
		counters, err := countersOf(tx, id)
		if err != nil {
			return u, err
		}
		u.Counters = u.add(counters)
		u.Dataspaces = append(u.Dataspaces, DataspaceCounters{id, counters})
		var before Counters
		for day, err := range tx.Usage.Days(id) {
			if err != nil {
				return u, err
			}
			changes[day.Day] = changes[day.Day].add(day.Counters).add(before.negated())
			before = day.Counters
		}
		if before != counters {
			return u, fmt.Errorf("%w: the usage of dataspace %s is not that of its last day", ErrRecordDamaged, id)
		}
	}
	var sum Counters
	for _, day := range slices.Sorted(maps.Keys(changes)) {
		sum = sum.add(changes[day])
		u.Days = append(u.Days, DayCounters{day, sum})
	}
	return u, nil
}

// countersOf returns the counters of a dataspace. Each resource counts in them, so where they are zero and there is one, their row
// can no longer be found.
func countersOf(tx *Tx, dataspace ID) (Counters, error) {
	counters, err := tx.Usage.Get(dataspace)
	if err != nil || counters != (Counters{}) {
		return counters, err
	}
	for _, err := range tx.Resources.Range(ResourceRange{Dataspaces: []ID{dataspace}, States: paging.All, Order: paging.Oldest}) {
		if err == nil {
			err = fmt.Errorf("%w: dataspace %s has resources and no usage", ErrRecordDamaged, dataspace)
		}
		return counters, err
	}
	return counters, nil
}
