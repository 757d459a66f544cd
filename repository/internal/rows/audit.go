package rows

import (
	"errors"
	"strconv"
	"strings"

	"labshelf/auth"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// Change is the author and the action of a change. Each object saved with it gets an entry in the
// audit log, in the same transaction.
type Change struct {
	By     auth.Principal // zero for an operator or the service itself
	Action audit.Action
	Cause  uint64 // number of the entry that caused this one; 0 without one
	Values audit.Changes
}

// Log appends an entry about an object without a record. stamp is the time of the change; if it is
// 0, Log takes a new stamp.
func (c Change) Log(tx *metadata.Tx, stamp metadata.Stamp, e audit.Entry, texts audit.Changes) (number uint64, err error) {
	if stamp == 0 {
		stamp = tx.Stamp()
	}
	e.Action, e.Stamp, e.Cause, e.Values = c.Action, int64(stamp), c.Cause, c.Values.String()
	e.User, e.Key, e.Request = c.By.UserID, c.By.KeyID, c.By.Request
	copy(e.Session[:], c.By.Session[:])
	from := ""
	if c.By.Address.IsValid() {
		from = c.By.Address.String()
	}
	return tx.Log(e, texts.String(), from)
}

// about returns the entry about an object, and the stamp of its change. If the change did not
// modify the record, the stamp is 0, and the entry gets a new one.
func about(kind audit.Kind, before, after metadata.Record, previous uint64) (e audit.Entry, stamp metadata.Stamp) {
	if before.Modified != after.Modified {
		stamp = after.Modified
	}
	return audit.Entry{Object: audit.Object{Kind: kind, ID: after.ID}, Previous: previous}, stamp
}

// textChanges collects the texts that have changed. Each element is a name, the text before, and
// the text after.
func textChanges(texts [][3]string) (c audit.Changes) {
	for _, t := range texts {
		c.Change(t[0], t[1], t[2])
	}
	return c
}

// SaveDataspace stores a new (before is nil) or changed dataspace with its descriptive metadata. It
// sets after.Entry. Both before and after must have the descriptive metadata, or neither.
func SaveDataspace(tx *metadata.Tx, c Change, before, after *metadata.Dataspace) (err error) {
	old := before
	if before == nil {
		old = &metadata.Dataspace{Visibility: metadata.Private}
	}
	e, stamp := about(audit.Dataspace, old.Record, after.Record, old.Entry)
	c.Values.Change("visibility", old.Visibility.String(), after.Visibility.String())
	c.Values.Change("retention", old.Retention.String(), after.Retention.String())
	c.Values.Change("quota", strconv.FormatInt(old.Quota, 10), strconv.FormatInt(after.Quota, 10))
	texts := textChanges([][3]string{
		{"name", old.Name, after.Name}, {"title", old.Title, after.Title}, {"description", old.Description, after.Description},
		{"origin", old.Origin, after.Origin},
	})
	if err := changeDescriptive(tx, after.ID, old.Descriptive, after.Descriptive, &texts); err != nil {
		return err
	}
	if after.Entry, err = c.Log(tx, stamp, e, texts); err != nil {
		return err
	}
	row := *after
	row.Descriptive = ""
	return tx.Dataspaces.Put(row)
}

// SaveSet is like SaveDataspace for a set. The entry of a new set names its dataspace.
func SaveSet(tx *metadata.Tx, c Change, before, after *metadata.Set) (err error) {
	old := before
	if before == nil {
		old = &metadata.Set{}
	}
	e, stamp := about(audit.Set, old.Record, after.Record, old.Entry)
	if before == nil {
		e.Dataspace = after.DataspaceID
	}
	c.Values.Change("extract", strings.Join(old.Extract.Sources(), " "), strings.Join(after.Extract.Sources(), " "))
	texts := textChanges([][3]string{
		{"name", old.Name, after.Name}, {"title", old.Title, after.Title}, {"description", old.Description, after.Description},
	})
	if err := changeDescriptive(tx, after.ID, old.Descriptive, after.Descriptive, &texts); err != nil {
		return err
	}
	if after.Entry, err = c.Log(tx, stamp, e, texts); err != nil {
		return err
	}
	row := *after
	row.Descriptive = ""
	return tx.Sets.Put(row)
}

// SaveUser is like SaveDataspace for a user.
func SaveUser(tx *metadata.Tx, c Change, before, after *metadata.User) (err error) {
	old := before
	if before == nil {
		old = &metadata.User{}
	}
	e, stamp := about(audit.User, old.Record, after.Record, old.Entry)
	c.Values.Change("sysadmin", strconv.FormatBool(old.Sysadmin), strconv.FormatBool(after.Sysadmin))
	c.Values.Change("quota", strconv.FormatInt(old.Quota, 10), strconv.FormatInt(after.Quota, 10))
	texts := textChanges([][3]string{
		{"username", old.Username, after.Username}, {"fullname", old.Fullname, after.Fullname}, {"about", old.About, after.About},
	})
	if after.Entry, err = c.Log(tx, stamp, e, texts); err != nil {
		return err
	}
	return tx.Users.Put(*after)
}

// SaveKey stores a new or just revoked key, and returns the number of the entry. If stamp is 0, the
// entry gets a new stamp.
func SaveKey(tx *metadata.Tx, c Change, stamp metadata.Stamp, k metadata.Key) (number uint64, err error) {
	var texts audit.Changes
	if k.Gone == 0 {
		c.keyChanges(&texts, metadata.Key{}, k)
	}
	return c.putKey(tx, stamp, texts, k)
}

// UpdateKey stores a changed key, and returns the number of the entry.
func UpdateKey(tx *metadata.Tx, c Change, before, after metadata.Key) (number uint64, err error) {
	var texts audit.Changes
	c.keyChanges(&texts, before, after)
	c.Values.Change("madeWith", idText(before.MadeWith), idText(after.MadeWith))
	return c.putKey(tx, 0, texts, after)
}

func (c *Change) keyChanges(texts *audit.Changes, before, after metadata.Key) {
	texts.Change("label", before.Label, after.Label)
	c.Values.Change("expires", stampText(before.Expires), stampText(after.Expires))
	old, now := before.Limits, after.Limits
	if old.Scope != now.Scope {
		c.Values.Change("scope", old.Scope.String(), now.Scope.String())
	}
	c.Values.Change("dataspace", idText(old.Dataspace), idText(now.Dataspace))
	c.Values.Change("set", idText(old.Set), idText(now.Set))
	c.Values.Change("networks", string(old.Networks), string(now.Networks))
}

// stampText returns a stamp as a number, "" for zero.
func stampText(s metadata.Stamp) string {
	if s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(s), 10)
}

func (c Change) putKey(tx *metadata.Tx, stamp metadata.Stamp, texts audit.Changes, k metadata.Key) (number uint64, err error) {
	number, err = c.Log(tx, stamp, audit.Entry{Object: audit.Object{Kind: audit.Key, ID: k.ID}, Subject: k.UserID}, texts)
	return number, errors.Join(err, tx.Keys.Put(k))
}

// SavePrivilege stores a new (before is nil) or changed privilege. Its entry is part of the history
// of the dataspace.
func SavePrivilege(tx *metadata.Tx, c Change, before *metadata.Privilege, after metadata.Privilege) error {
	d, err := tx.Dataspaces.Get(after.DataspaceID)
	if err != nil {
		return err
	}
	e := audit.Entry{Object: audit.Object{Kind: audit.Dataspace, ID: d.ID}, Subject: after.UserID, Previous: d.Entry}
	c.Values.Change("role", roleOf(before), roleOf(&after))
	if d.Entry, err = c.Log(tx, after.Modified, e, audit.Changes{}); err != nil {
		return err
	}
	return errors.Join(tx.Dataspaces.Put(d), tx.Privileges.Put(after))
}

// roleOf returns the name of the role that a privilege grants, or "" without one.
func roleOf(v *metadata.Privilege) string {
	if v == nil || v.State == metadata.Deleted {
		return ""
	}
	return v.Role.String()
}

// SaveSession stores a new session. The entry names it as the caller's session.
func SaveSession(tx *metadata.Tx, c Change, s metadata.Session) error {
	c.By.Session = s.Digest
	_, err := c.Log(tx, s.Created, audit.Entry{}, audit.Changes{})
	return errors.Join(err, tx.Sessions.Put(s))
}

// EndSession removes a session.
func EndSession(tx *metadata.Tx, c Change, s metadata.Session) error {
	c.By.Session = s.Digest
	_, err := c.Log(tx, 0, audit.Entry{}, audit.Changes{})
	return errors.Join(err, tx.Sessions.Remove(s.Key()))
}

// resourceEntry returns the entry about a resource, the stamp of its change, and its changed texts.
func (c Change) resourceEntry(before *metadata.Resource, after metadata.Resource) (e audit.Entry, stamp metadata.Stamp, texts audit.Changes) {
	old := before
	if before == nil {
		old = &metadata.Resource{}
	}
	e, stamp = about(audit.Resource, old.Record, after.Record, old.Entry)
	if before == nil {
		e.Set = after.SetID
	}
	if before == nil || before.Version != after.Version {
		e.Digest, e.Before, e.Bytes, e.Version = after.Digest, old.Digest, uint64(after.Bytes), uint64(after.Version)+1
	}
	if after.Body == metadata.Purged {
		e.Before, e.Bytes, e.Version = after.Digest, uint64(after.Bytes), uint64(after.Version)+1
	}
	texts = textChanges([][3]string{
		{"name", old.Name, after.Name}, {"description", old.Description, after.Description}, {"format", old.Format, after.Format},
		{"mimeType", old.MimeType, after.MimeType}, {"filename", old.Filename, after.Filename}, {"label", old.Label, after.Label},
	})
	return e, stamp, texts
}
