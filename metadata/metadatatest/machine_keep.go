package metadatatest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"pgregory.net/rapid"

	"labshelf/metadata"
)

// backup is a snapshot and what it must hold.
type backup struct {
	content []byte
	model   *Memory
	last    metadata.Stamp // that the machine had taken
}

// crash goes on from a copy of the files as they are at some moment, as after the death of the process: between two
// transactions, or within one, of which nothing is then there.
func (m *machine) crash(rt *rapid.T) {
	place := m.place()
	if !rapid.Bool().Draw(rt, "within a transaction") {
		if err := os.CopyFS(place, os.DirFS(m.dir)); err != nil {
			rt.Fatal(err)
		}
		m.moveTo(rt, place, m.model)
		return
	}
	s := m.drawChange(rt)
	err := m.subject.Update(context.Background(), func(tx *metadata.Tx) error {
		s.replay(tx)
		return errors.Join(os.RemoveAll(place), os.CopyFS(place, os.DirFS(m.dir)))
	})
	if err != nil {
		rt.Fatalf("update: %v", err)
	}
	m.moveTo(rt, place, m.model)
}

// drawChange returns writes for the subject that the model does not make.
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

// place names a directory that is not there yet.
func (m *machine) place() string {
	m.places++
	return filepath.Join(m.root, strconv.Itoa(m.places))
}

// moveTo closes the store and opens the one in another directory, which must be what the model is.
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

// restore goes back to an earlier snapshot.
func (m *machine) restore(rt *rapid.T) {
	if len(m.backups) == 0 {
		return
	}
	b := rapid.SampledFrom(m.backups).Draw(rt, "backup")
	place := m.place()
	if err := errors.Join(os.Mkdir(place, 0o700), os.WriteFile(filepath.Join(place, m.file), b.content, 0o600)); err != nil {
		rt.Fatal(err)
	}
	m.last = b.last
	m.moveTo(rt, place, b.model)
}
