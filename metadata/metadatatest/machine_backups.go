package metadatatest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"labshelf/metadata"
)

// backup is a snapshot and its expected content.
type backup struct {
	content []byte
	model   *Memory
	last    metadata.Stamp // the last stamp that the machine had taken
}

// crash continues from a copy of the files, as after a crash of the process. The copy is made
// between two transactions, or within one, whose changes must then be missing.
func (m *machine) crash(rt *rapid.T) {
	dir := m.newDir()
	if !rapid.Bool().Draw(rt, "within a transaction") {
		if err := os.CopyFS(dir, os.DirFS(m.dir)); err != nil {
			rt.Fatal(err)
		}
		m.moveTo(rt, dir, m.model)
		return
	}
	s := m.drawChange(rt)
	err := m.subject.Update(context.Background(), func(tx *metadata.Tx) error {
		s.replay(tx)
		return errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(m.dir)))
	})
	if err != nil {
		rt.Fatalf("update: %v", err)
	}
	m.moveTo(rt, dir, m.model)
}

// drawChange returns writes for the subject that the model does not perform.
func (m *machine) drawChange(rt *rapid.T) *session {
	s, last := &session{}, m.last
	err := m.model.Update(context.Background(), func(tx *metadata.Tx) error {
		s.tx = tx
		for range rapid.IntRange(1, 8).Draw(rt, "writes") {
			m.write(rt, s)
		}
		return errOnPurpose
	})
	if !errors.Is(err, errOnPurpose) {
		rt.Fatalf("memory: %v", err)
	}
	m.done, m.last = m.done+len(s.ops), last
	return s
}

// newDir returns the name of a new directory.
func (m *machine) newDir() string {
	m.dirs++
	return filepath.Join(m.root, strconv.Itoa(m.dirs))
}

// moveTo closes the store and opens the store in another directory, which must equal the model.
func (m *machine) moveTo(rt *rapid.T, dir string, model *Memory) {
	secret := m.subject.Secret()
	m.close(rt)
	m.dir, m.model = dir, model.Reopen(m.clock.now)
	m.start(rt)
	agree(rt, "secret", m.subject.Secret(), secret)
	m.everything(rt)
}

// backUp takes a snapshot.
func (m *machine) backUp(rt *rapid.T) {
	snapshot, err := m.subject.Snapshot(context.Background())
	if err != nil {
		rt.Fatalf("snapshot: %v", err)
	}
	content, err := io.ReadAll(snapshot)
	if err := errors.Join(err, snapshot.Close()); err != nil {
		rt.Fatalf("read the snapshot: %v", err)
	}
	agree(rt, "length of the snapshot", snapshot.Bytes(), int64(len(content)))
	agree(rt, "stamp of the snapshot", snapshot.Stamp(), m.model.state.Load().last)
	m.backups = append(m.backups, backup{bytes.Clone(content), m.model.Reopen(m.clock.now), m.last})
}

// restore returns to an earlier snapshot.
func (m *machine) restore(rt *rapid.T) {
	if len(m.backups) == 0 {
		return
	}
	b := rapid.SampledFrom(m.backups).Draw(rt, "backup")
	dir := m.newDir()
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, m.file), b.content, 0o600)); err != nil {
		rt.Fatal(err)
	}
	m.last = b.last
	m.moveTo(rt, dir, b.model)
}

// Use is a use case that Compare runs on both stores. The rows need not be consistent.
type Use struct {
	Name string
	// Draw returns a function that does the same to each store. The function must return equal
	// values for both.
	Draw func(rt *rapid.T, now func() time.Time) func(metadata.Store) (any, error)
}

// action returns the action that runs a use case.
func (m *machine) action(u Use) func(*rapid.T) {
	return func(rt *rapid.T) {
		run := u.Draw(rt, m.clock.now)
		subject, err := run(m.subject)
		if err != nil {
			rt.Fatalf("%s: %v", u.Name, err)
		}
		model, err := run(m.model)
		if err != nil {
			rt.Fatalf("%s in memory: %v", u.Name, err)
		}
		agree(rt, u.Name, subject, model)
	}
}
