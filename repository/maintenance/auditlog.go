package maintenance

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// logChecker verifies the entries of the audit log against their tree, and the objects against the
// entries. It keeps one bit for each entry in memory.
type logChecker struct {
	*checker
	state audit.State
	last  audit.Entry // the preceding entry
	epoch string      // of the last entry that began an epoch
	open  entrySet    // entries about objects that no later entry about the same object, and no object, has named so far
	ends  bool        // an entry could not be read, so entries that seem unnamed are not reported
}

// entrySet is a set of numbers of entries.
type entrySet []uint64

func (s entrySet) has(number uint64) bool {
	return number/64 < uint64(len(s)) && s[number/64]&(1<<(number%64)) != 0
}

func (s *entrySet) add(number uint64) {
	*s = append(*s, make([]uint64, max(0, int(number/64)+1-len(*s)))...)
	(*s)[number/64] |= 1 << (number % 64)
}

// remove removes a number that must be in the set.
func (s entrySet) remove(number uint64) { s[number/64] &^= 1 << (number % 64) }

// wrong reports a violation of an entry if bad is true.
func (c *logChecker) wrong(bad bool, number uint64, format string, args ...any) {
	if bad {
		c.report(metadata.Violation{Part: metadata.PartRules, Kind: "entry", ID: strconv.FormatUint(number, 10), Wrong: fmt.Sprintf(format, args...)})
	}
}

// checkLog reads all entries, in order, and builds their tree again.
func (c *logChecker) checkLog() error {
	kept, err := c.tx.Audit.State()
	if err != nil {
		return err
	}
	for number := range kept.Size {
		row, err := c.tx.Audit.Get(number)
		if errors.Is(err, metadata.ErrRecordDamaged) || errors.Is(err, metadata.ErrNotFound) {
			c.ends = true
			c.wrong(true, number, "it cannot be read; it and all later entries were not verified: %v", err)
			return nil
		}
		if err = errors.Join(err, c.ended()); err != nil {
			return err
		}
		if err := c.checkRow(row); err != nil {
			return err
		}
	}
	c.wrong(!slices.Equal(kept.Frontier, c.state.Frontier), kept.Size, "the stored hashes that it must continue do not match the entries before it")
	return c.checkEpoch()
}

// checkEpoch checks that the last epoch in the log is the present one.
func (c *logChecker) checkEpoch() error {
	epoch, err := c.tx.Lineage.Epoch()
	if err == nil {
		c.wrong(c.state.Size > 0 && epoch.ID.String() != c.epoch, c.state.Size, "the current epoch %s has no entry", epoch.ID)
	}
	return err
}

// checkRow verifies the next entry, and advances the state.
func (c *logChecker) checkRow(row metadata.AuditEntry) error {
	completed, next := c.state.Append(row.Leaf)
	c.wrong(!slices.Equal(row.Completed, completed), row.Number, "its hashes do not match its leaf and the entries before it")
	e, err := row.Entry()
	if err != nil {
		c.wrong(true, row.Number, "it has %v", audit.ErrLeaf)
		c.ends = true
	} else if err = c.checkEntry(row, e); err == nil {
		c.last = e
	}
	c.state = next
	return errs.Ignore(err, metadata.ErrRecordDamaged) // already reported for the damaged entry
}

func (c *logChecker) checkEntry(row metadata.AuditEntry, e audit.Entry) error {
	begins := e.Action == audit.EpochBegin
	c.wrong(row.Number == 0 && !begins, row.Number, "it does not begin an epoch")
	c.wrong(e.Stamp < c.last.Stamp || e.Stamp == c.last.Stamp && !begins, row.Number, "its stamp %d is not later than the stamp of the entry before it, %d", e.Stamp, c.last.Stamp)
	c.result.Stamp = max(c.result.Stamp, metadata.Stamp(e.Stamp))
	for what, sealed := range map[string]struct {
		audit.Sealed
		digest [32]byte
	}{"texts": {row.Texts, e.Texts}, "address": {row.Address, e.Address}} {
		c.wrong(sealed.Sealed != (audit.Sealed{}) && sealed.Digest() != sealed.digest, row.Number, "its %s differ from the hashed ones", what)
	}
	if begins {
		begun, err := audit.ParseEpoch(e.Values)
		c.wrong(err != nil || begun.Size != c.state.Size || begun.Root != c.state.Root(), row.Number, "it does not begin an epoch that continues the entries before it")
		c.epoch = begun.ID
	}
	c.wrong(e.Cause != 0 && e.Cause >= row.Number, row.Number, "its cause, entry %d, is not an earlier entry", e.Cause)
	return c.follow(row.Number, e)
}

// follow verifies that an entry about an object with a history names the preceding entry about it.
func (c *logChecker) follow(number uint64, e audit.Entry) error {
	switch e.Object.Kind {
	case audit.Dataspace, audit.Set, audit.Resource, audit.User, audit.Schema, audit.Link:
	default:
		return nil
	}
	c.open.add(number)
	if e.Previous == 0 {
		return nil
	}
	if e.Previous >= number {
		c.wrong(true, number, "the previous entry that it names, %d, is not an earlier entry", e.Previous)
		return nil
	}
	if !c.open.has(e.Previous) {
		c.wrong(true, number, "the previous entry that it names, %d, has no object, or another entry already follows it", e.Previous)
		return nil
	}
	before, err := c.entry(e.Previous)
	c.wrong(err == nil && before.Object != e.Object, number, "the previous entry that it names, %d, is about another object", e.Previous)
	c.open.remove(e.Previous)
	return err
}

func (c *logChecker) entry(number uint64) (e audit.Entry, err error) {
	row, err := c.tx.Audit.Get(number)
	if err != nil {
		return e, err
	}
	return row.Entry()
}

// checkObject verifies that the entry that an object names is the last entry about it.
func (c *logChecker) checkObject(kind audit.Kind, r metadata.Record, name string, number uint64) error {
	if number == 0 {
		return nil
	}
	e, err := c.entry(number)
	if errors.Is(err, metadata.ErrRecordDamaged) || errors.Is(err, metadata.ErrNotFound) {
		c.checker.wrong(true, kind.String(), r, name, "its entry %d of the audit log cannot be read: %v", number, err)
		return nil
	}
	about := e.Object == audit.Object{Kind: kind, ID: r.ID}
	c.checker.wrong(err == nil && !about, kind.String(), r, name, "its entry %d of the audit log is about another object", number)
	if !about {
		return err
	}
	c.checkChange(kind, r, name, e)
	if c.ends {
		return err
	}
	c.checker.wrong(!c.open.has(number), kind.String(), r, name, "its entry %d of the audit log is not the last one about it", number)
	if c.open.has(number) {
		c.open.remove(number)
	}
	return err
}

// checkChange compares an object with its last entry. The time of the object's last change must be
// the stamp of that entry, unless the action does not modify the object.
func (c *logChecker) checkChange(kind audit.Kind, r metadata.Record, name string, e audit.Entry) {
	unmodified := false
	switch e.Action {
	case audit.VersionLabel, audit.VersionErase, audit.VersionPurge, audit.ResourcePurge, audit.PrivilegeGrant, audit.PrivilegeRevoke:
		unmodified = metadata.Stamp(e.Stamp) > r.Modified
	case audit.DataspaceDelete, audit.SetDelete, audit.ResourceDelete, audit.UserDelete, audit.SchemaDelete, audit.LinkRevoke:
		c.checker.wrong(r.State != metadata.Deleted, kind.String(), r, name, "it is %s, and its last entry of the audit log is %s", r.State, e.Action)
	case audit.DataspaceCreate, audit.DataspaceRestore, audit.SetCreate, audit.SetRestore, audit.ResourceCreate, audit.ResourceRestore, audit.UserCreate, audit.UserRestore,
		audit.SchemaCreate, audit.SchemaRestore, audit.LinkCreate, audit.LinkUpdate, audit.LinkTake, audit.ResourceCopy, audit.ResourceMove:
		c.checker.wrong(r.State != metadata.Active, kind.String(), r, name, "it is %s, and its last entry of the audit log is %s", r.State, e.Action)
	}
	c.checker.wrong(!unmodified && metadata.Stamp(e.Stamp) != r.Modified, kind.String(), r, name,
		"it was modified at %d, and its last entry of the audit log, %s, is of %d", r.Modified, e.Action, e.Stamp)
}

// checkFile verifies that a resource has the file of its last entry, if that entry is about a file.
func (c *logChecker) checkFile(r metadata.Resource) error {
	if r.Entry == 0 {
		return nil
	}
	e, err := c.entry(r.Entry)
	if errors.Is(err, metadata.ErrRecordDamaged) || errors.Is(err, metadata.ErrNotFound) || e.Digest == [32]byte{} {
		return nil // checkObject has reported it
	}
	same := e.Digest == r.Digest && e.Bytes == uint64(r.Bytes) && e.Version == uint64(r.Version)+1
	c.checker.wrong(err == nil && !same && e.Object.ID == r.ID, "resource", r.Record, r.Name, "its file differs from its last entry in the audit log, %d", r.Entry)
	return err
}

// checkOpen verifies that each object in the log names its last entry.
func (c *logChecker) checkOpen() error {
	if c.ends {
		return nil
	}
	for i, word := range c.open {
		for ; word != 0; word &= word - 1 {
			number := uint64(i)*64 + uint64(bits.TrailingZeros64(word))
			e, err := c.entry(number)
			if err != nil {
				return err
			}
			c.wrong(true, number, "%s %s, whose last entry it is, names another entry or no entry", e.Object.Kind, e.Object.ID)
		}
	}
	return nil
}
