// Package quota enforces the quotas of dataspaces and users. All versions count in full, as
// metadata.Counters and metadata.UserUsage count them.
//
// A quota is checked three times. An upload that is too long at its beginning is refused
// immediately. While data arrives, the upload reserves the received bytes and up to 1 MiB more in a
// Ledger, so that it ends as soon as there is no more room. An announced length reserves nothing:
// otherwise a request without a body could use up a quota. The transaction that adds the bytes
// compares them with the counters, so that no upload can exceed a quota. Reservations exist only in
// memory.
package quota

import (
	"errors"
	"fmt"
	"strconv"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// Place names the counters that bytes count in: the counters of a dataspace, unless its id is zero,
// and the counters of the user who stores them.
type Place struct{ Dataspace, User metadata.ID }

// limit is one quota and its usage.
type limit struct {
	of          metadata.ID
	whose       string // in messages
	quota, used int64
}

// limits returns the quotas of a place. It is empty if there are no quotas.
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

// Limited reports whether a place has a quota.
func Limited(tx *metadata.Tx, at Place) (bool, error) {
	_, limited, err := Left(tx, at)
	return limited, err
}

// Left returns the free bytes within the quotas of a place, at least 0. limited is false if there
// is no quota.
func Left(tx *metadata.Tx, at Place) (bytes int64, limited bool, err error) {
	all, err := limits(tx, at)
	for i, l := range all {
		if room := max(0, l.quota-l.used); i == 0 || room < bytes {
			bytes = room
		}
	}
	return bytes, len(all) > 0, err
}

// Check returns an error if this many more bytes in a place would exceed a quota. It ignores
// reservations. Call it in the transaction that adds the bytes. The error is for the user who
// stores them, and gives the numbers of each exceeded quota.
func Check(tx *metadata.Tx, at Place, bytes int64) error {
	all, err := limits(tx, at)
	for _, l := range all {
		if bytes > l.quota-l.used {
			err = errors.Join(err, l.exceeded(bytes, 0))
		}
	}
	return err
}

// exceeded returns the refusal of this many bytes, in addition to the bytes that other uploads have
// reserved.
func (l limit) exceeded(bytes, reserved int64) error {
	holds, others := "holds", ""
	if l.whose == "you" {
		holds = "hold"
	}
	if reserved > 0 {
		others = fmt.Sprintf(", and uploads in progress have reserved %s", Size(reserved))
	}
	message := fmt.Sprintf("%s %s %s of %s%s; %s more do not fit, and nothing was stored. ",
		l.whose, holds, Size(l.used), Size(l.quota), others, Size(bytes))
	return &errs.Error{Kind: errs.NoSpace, Code: errs.CodeQuotaExceeded,
		Message: message + "Deleted files and old versions count until they are purged: have some purged, or ask a sysadmin for a larger quota"}
}

// Size formats a number of bytes for people.
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
