package rows

import (
	"cmp"
	"strconv"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// SaveLink stores a new (before is nil) or changed link and sets after.Entry. The entry records
// that the password has changed, and never the password.
func SaveLink(tx *metadata.Tx, c Change, before, after *metadata.Link) (err error) {
	old := cmp.Or(before, &metadata.Link{})
	e, stamp := about(audit.Link, old.Record, after.Record, old.Entry)
	e.Dataspace, e.Set = after.DataspaceID, after.SetID
	if before != nil {
		c.Values.Change("madeWith", idText(old.MadeWith), idText(after.MadeWith))
	} else {
		c.Values.Change("kind", "", after.Kind.String())
		c.Values.Change("role", "", after.Role.String())
	}
	if old.OwnerID != after.OwnerID {
		e.Subject = after.OwnerID
	}
	if old.Password != after.Password {
		c.Values.Change("password", strconv.FormatBool(old.Password != ""), "set")
	}
	c.Values.Change("expires", expiry(old.Expires), expiry(after.Expires))
	c.Values.Change("maxUses", strconv.FormatUint(uint64(old.MaxUses), 10), strconv.FormatUint(uint64(after.MaxUses), 10))
	c.Values.Change("maxBytes", strconv.FormatInt(old.MaxBytes, 10), strconv.FormatInt(after.MaxBytes, 10))
	c.Values.Change("maxFileBytes", strconv.FormatInt(old.MaxFile, 10), strconv.FormatInt(after.MaxFile, 10))
	c.Values.Change("types", old.Types, after.Types)
	c.Values.Change("hidesPeople", strconv.FormatBool(old.HidesPeople), strconv.FormatBool(after.HidesPeople))
	texts := textChanges([][3]string{{"label", old.Label, after.Label}, {"folder", old.Folder, after.Folder}})
	if after.Entry, err = c.Log(tx, stamp, e, texts); err != nil {
		return err
	}
	return tx.Links.Put(*after)
}

// expiry formats the time at which a link expires, "" if it does not expire.
func expiry(at metadata.Stamp) string {
	if at == 0 {
		return ""
	}
	return at.Time().UTC().Format("2006-01-02T15:04:05Z")
}
