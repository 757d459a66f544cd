package instruments

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/oklog/ulid/v2"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/formats/extraction"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/rows"
)

const (
	maxLooked = 1000 // maximum files of a set that one read transaction examines
	maxSame   = 100  // maximum files with the same name in a set that are examined
)

// step is the work that one read transaction has found.
type step struct {
	instruments *Instruments
	tx          *metadata.Tx
	at          metadata.FillState // position after the step
	files       []file
	planned     map[metadata.ID]bool
	wants       map[metadata.ID]bool // whether a set has enabled an extraction, by set
	more        bool
}

// inputs are the values that the filled properties of a file depend on.
type inputs struct {
	from            metadata.Extract
	name            string
	digest          blobs.Digest
	sidecarID       metadata.ID
	digestOfSidecar blobs.Digest
}

// file is a file whose properties are to be filled.
type file struct {
	inputs
	resource, sidecar metadata.Resource
	cause             uint64
}

// arrivals plans the files that the next entries concern.
func (s *step) arrivals() error {
	log, err := s.tx.Audit.State()
	if err != nil {
		return err
	}
	for last := min(log.Size, s.at.Arrivals+maxEntries); s.at.Arrivals < last && len(s.files) < maxFiles; s.at.Arrivals++ {
		e, err := s.entry(s.at.Arrivals)
		if err == nil {
			err = ignoreDamage(s.arrival(e))
		}
		if err != nil {
			return err
		}
	}
	s.more = s.at.Arrivals < log.Size
	return nil
}

// ignoreDamage ignores an error about a damaged record. A check reports it, and it must not stop
// other files from being filled.
func ignoreDamage(err error) error { return errs.Ignore(err, metadata.ErrRecordDamaged) }

// entry reads an entry. It returns a zero entry for a damaged one.
func (s *step) entry(number uint64) (audit.Entry, error) {
	e, err := s.tx.Audit.Entry(number)
	if errors.Is(err, metadata.ErrRecordDamaged) {
		return audit.Entry{}, nil
	}
	return e, err
}

// texts reads the texts of an entry. It returns "" if it has none or they were erased.
func (s *step) texts(number uint64, e audit.Entry) (string, error) {
	if e.Texts == [32]byte{} {
		return "", nil
	}
	row, err := s.tx.Audit.Get(number)
	return row.Texts.Text, err
}

// arrives reports whether the next entry may have changed the header or the sidecar of a file.
// before is the name before the change, or "" if the name has not changed.
func (s *step) arrives(e audit.Entry) (before string, arrives bool, err error) {
	switch e.Action {
	case audit.ResourceCreate, audit.ResourceCopy: // the texts of an entry about a new file need not be read
		return "", true, nil
	case audit.ResourceReplace, audit.ResourceDelete, audit.ResourceRestore, audit.VersionRestore, audit.ResourceMove:
		texts, err := s.texts(s.at.Arrivals, e)
		return nameBefore(texts), true, err
	case audit.ResourceEdit:
		texts, err := s.texts(s.at.Arrivals, e)
		before = nameBefore(texts)
		return before, before != "" || e.User != ulid.ULID{} && addsSource(texts), err
	}
	return "", false, nil
}

// addsSource reports whether a change gave a property a source that it did not have. By people,
// only an undo does so, which restores values read from an earlier file.
func addsSource(texts string) bool {
	const member = descriptive.Root + ".sources"
	var said map[string]json.RawMessage
	if json.Unmarshal([]byte(texts), &said) != nil || said[member] == nil {
		return false
	}
	var change struct{ Before, Now string }
	if json.Unmarshal(said[member], &change.Now) != nil && json.Unmarshal(said[member], &change) != nil {
		return false
	}
	var before, now descriptive.Sources
	if change.Before != "" && json.Unmarshal([]byte(change.Before), &before) != nil || json.Unmarshal([]byte(change.Now), &now) != nil {
		return false
	}
	_, added := now.Added(before)
	return added
}

// nameBefore returns the name of a file before a change. It returns "" if the name has not changed
// or the text was erased.
func nameBefore(texts string) string {
	var said struct{ Name struct{ Before string } }
	if json.Unmarshal([]byte(texts), &said) != nil {
		return ""
	}
	return said.Name.Before
}

// arrival plans a changed file, and the files whose sidecar it is or was.
func (s *step) arrival(e audit.Entry) error {
	if e.Object.Kind != audit.Resource {
		return nil
	}
	r, err := s.tx.Resources.Get(e.Object.ID)
	if err != nil {
		return errs.Ignore(err, metadata.ErrNotFound)
	}
	if wanted, err := s.wanted(r.SetID); err != nil || !wanted {
		return err
	}
	before, arrives, err := s.arrives(e)
	if err != nil || !arrives {
		return err
	}
	if err := s.plan(r.ID, s.at.Arrivals); err != nil {
		return err
	}
	for _, name := range []string{r.Name, before} {
		of, is := strings.CutSuffix(name, extraction.SidecarSuffix)
		if !is || of == "" {
			continue
		}
		same, err := named(s.tx, r.SetID, of)
		for _, target := range same {
			err = errors.Join(err, s.plan(target.ID, s.at.Arrivals))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether a set has enabled an extraction. Files of other sets are ignored.
func (s *step) wanted(id metadata.ID) (bool, error) {
	if wanted, known := s.wants[id]; known {
		return wanted, nil
	}
	set, err := s.tx.Sets.Get(id)
	if err = errs.Ignore(err, metadata.ErrNotFound); err == nil {
		s.wants[id] = set.Extract != 0
	}
	return set.Extract != 0, err
}

// named returns the active files of a set with a name, oldest first.
func named(tx *metadata.Tx, set metadata.ID, name string) ([]metadata.Resource, error) {
	return rows.Collect(tx.Resources.Range(metadata.ResourceRange{Set: set, States: paging.Active, Order: paging.ByName, Name: &name}), maxSame)
}

func (s *step) plan(id metadata.ID, cause uint64) error {
	if s.planned[id] {
		return nil
	}
	s.planned[id] = true
	f, wanted, err := planFile(s.instruments, s.tx, id, cause)
	if wanted && err == nil {
		s.files = append(s.files, f)
	}
	return ignoreDamage(err)
}

// planFile returns the present state of a file. wanted is false if its set has enabled no
// extraction.
func planFile(i *Instruments, tx *metadata.Tx, id metadata.ID, cause uint64) (f file, wanted bool, err error) {
	f.cause = cause
	if f.resource, f.from, err = i.rules.Lookup(tx, id); err != nil || f.from == 0 {
		return f, false, errs.Ignore(err, metadata.ErrNotFound)
	}
	f.name, f.digest = f.resource.Name, f.resource.Digest
	if f.from&metadata.ExtractSidecar == 0 {
		return f, true, nil
	}
	sidecars, err := named(tx, f.resource.SetID, f.resource.Name+extraction.SidecarSuffix)
	if n := len(sidecars); n > 0 {
		f.sidecar = sidecars[n-1]
		f.sidecarID, f.digestOfSidecar = f.sidecar.ID, f.sidecar.Digest
	}
	return f, true, err
}

// switches plans the files of sets that have enabled an extraction.
func (s *step) switches() error {
	for last := min(s.at.Arrivals, s.at.Switches+maxEntries); s.at.Switches < last; s.at.Switches++ {
		e, err := s.entry(s.at.Switches)
		if err == nil && e.Action == audit.SetUpdate && switchesExtraction(e.Values) {
			err = ignoreDamage(s.filesOf(e.Object.ID))
		}
		if err != nil || s.more {
			return err
		}
		s.at.AfterName, s.at.AfterID = "", metadata.ID{}
	}
	s.more = s.at.Switches < s.at.Arrivals
	return nil
}

func switchesExtraction(values string) bool {
	var said struct{ Extract json.RawMessage }
	return json.Unmarshal([]byte(values), &said) == nil && said.Extract != nil
}

// filesOf plans the next files of a set. It sets s.more if others may follow.
func (s *step) filesOf(id metadata.ID) error {
	set, err := s.tx.Sets.Get(id)
	if err != nil || set.Extract == 0 {
		return errs.Ignore(err, metadata.ErrNotFound)
	}
	looked := 0
	within := metadata.ResourceRange{
		Set: id, States: paging.Active, Order: paging.ByName, After: paging.Position{Name: s.at.AfterName, ID: s.at.AfterID},
	}
	for r, err := range s.tx.Resources.Range(within) {
		if err != nil {
			return err
		}
		if s.more = looked == maxLooked || len(s.files) == maxFiles; s.more {
			return nil
		}
		looked++
		if err := s.plan(r.ID, s.at.Switches); err != nil {
			return err
		}
		s.at.AfterName, s.at.AfterID = r.Name, r.ID
	}
	return nil
}

// inlineBody is a body read from the metadata.
type inlineBody struct{ *bytes.Reader }

func (inlineBody) Close() error { return nil }

func openInline(tx *metadata.Tx, r metadata.Resource) (io.ReadSeekCloser, error) {
	body, err := rows.ReadInline(tx, r)
	if err != nil {
		return nil, errors.Join(errUnknown, err)
	}
	return inlineBody{bytes.NewReader(body)}, nil
}
