// Package quota keeps what dataspaces and users hold within their quotas. Bytes are those of all
// versions, each counted in full, as metadata.Counters and metadata.UserUsage count them.
//
// A quota is asked three times. An upload that is longer than the room at its beginning is refused
// at once. While it comes, it reserves in a Ledger what has come and up to 1 MiB more, so that it
// ends as soon as there is no more room. An announced length reserves nothing: else one request
// without a body would use up a quota. The transaction that adds bytes compares them with the
// counters, and nothing gets past it. Reservations are in memory alone.
package quota

import (
	"errors"
	"fmt"
	"strconv"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// Place is where bytes are counted: in a dataspace, unless it is zero, and for the user who
// stores them.
type Place struct{ Dataspace, User metadata.ID }

// limit is a quota, and how much of it is used.
type limit struct {
	of          metadata.ID
	whose       string // for people
	quota, used int64
}

// limits are the quotas of a place; none where there is no quota.
func limits(tx *metadata.Tx, at Place) (all []limit, err error) {
	tx.Prefetch(func() {
		_, _ = tx.Dataspaces.Get(at.Dataspace)
		_, _ = tx.Usage.Get(at.Dataspace)
		_, _ = tx.Users.Get(at.User)
		_, _ = tx.UserUsage.Get(at.User)
	})
	d, err := tx.Dataspaces.Get(at.Dataspace)
	if at.Dataspace == (metadata.ID{}) {
		err = nil
	}
	if err == nil && d.Quota > 0 {
		var used metadata.Counters
		used, err = tx.Usage.Get(d.ID)
		all = append(all, limit{d.ID, fmt.Sprintf("the dataspace %s", d.Name), d.Quota, used.Bytes()})
	}
	if err != nil {
		return nil, err
	}
	u, err := tx.Users.Get(at.User)
	if err != nil || u.Quota == 0 {
		return all, errs.Ignore(err, metadata.ErrNotFound)
	}
	used, err := tx.UserUsage.Get(u.ID)
	return append(all, limit{u.ID, "you", u.Quota, used.Bytes}), errs.Ignore(err, metadata.ErrNotFound)
}

// Limited tells whether there is a quota in a place.
func Limited(tx *metadata.Tx, at Place) (bool, error) {
	_, limited, err := Left(tx, at)
	return limited, err
}

// Left returns how many bytes the quotas of a place have room for, not less than 0; false: there is
// no quota.
func Left(tx *metadata.Tx, at Place) (bytes int64, limited bool, err error) {
	all, err := limits(tx, at)
	for i, l := range all {
		if room := max(0, l.quota-l.used); i == 0 || room < bytes {
			bytes = room
		}
	}
	return bytes, len(all) > 0, err
}

// Check refuses so many more bytes in a place where that would be more than a quota, whatever is
// reserved. It belongs into the transaction that adds them. The error is for the user who stores
// them, and has the numbers of both quotas.
func Check(tx *metadata.Tx, at Place, bytes int64) error {
	all, err := limits(tx, at)
	for _, l := range all {
		if bytes > l.quota-l.used {
			err = errors.Join(err, l.exceeded(bytes, 0))
		}
	}
	return err
}

// exceeded is the refusal of so many bytes, beside those reserved by others.
func (l limit) exceeded(bytes, reserved int64) error {
	holds, others := "holds", ""
	if l.whose == "you" {
		holds = "hold"
	}
	if reserved > 0 {
		others = fmt.Sprintf(", and uploads under way hold %s", Size(reserved))
	}
	message := fmt.Sprintf("%s %s %s of %s%s; %s more do not fit, and nothing was stored. ",
		l.whose, holds, Size(l.used), Size(l.quota), others, Size(bytes))
	return &errs.Error{Kind: errs.NoSpace, Code: errs.CodeQuotaExceeded,
		Message: message + "Deleted files and old versions count until they are purged: have some purged, or ask a sysadmin for a larger quota"}
}

// Size writes a number of bytes for people.
func Size(bytes int64) string {
	const units = "KMGTPE"
	if bytes < 1<<10 {
		return strconv.FormatInt(bytes, 10) + " bytes"
	}
	value, unit := float64(bytes)/(1<<10), 0
	for ; value >= 1<<10; unit++ {
		value /= 1 << 10
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + " " + units[unit:unit+1] + "iB"
}
