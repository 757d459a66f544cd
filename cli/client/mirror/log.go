package mirror

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"labshelf/blobs"
	"labshelf/cli/client/fetch"
	"labshelf/cli/client/reference"
	"labshelf/client"
	"labshelf/formats/archive"
)

// maxLine is the longest line of a record, in bytes: its longest strings, with each byte escaped.
const maxLine = 1 << 20

// entry is the state of a resource in the mirror.
type entry struct {
	container *container
	path      string // of its file, below the folder of the mirror; "": the resource is deleted, or its file is missing
	name      string
	bytes     int64
	digest    blobs.Digest
	active    bool

	at   int64  // offset of its line
	sum  uint64 // checksum of that line
	seen bool   // in this walk from the start
}

// container is the set of a resource, and its dataspace. A resource never leaves its set.
type container struct {
	dataspaceID    string
	dataspace, set string // names; "" if the mirror has no folder for them
}

// fullName returns the name of a resource, below the folders for its dataspace and set.
func (h *container) fullName(id, name string) string {
	if archive.Clean(name) == "" {
		name = id
	}
	parts := []string{h.dataspace, h.set, name}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "/")
}

// location has the fields of a line that are not part of the record.
type location struct {
	Path      string `json:"path,omitempty"`
	Dataspace string `json:"dataspace,omitempty"`
	Set       string `json:"set,omitempty"`
}

// encodeLine returns a line without its newline.
func encodeLine(b location, r client.Resource) ([]byte, error) {
	head, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	r.Damaged = false // temporary, and not in any listing of changes
	record, err := json.Marshal(r)
	if err != nil || len(head) == len("{}") {
		return record, err
	}
	return slices.Concat(head[:len(head)-1], []byte(","), record[1:]), nil
}

// dropped is the last line of a resource that is no longer part of the mirror.
type dropped struct {
	ID      string `json:"id"`
	Dropped bool   `json:"dropped"`
}

// logLine has the fields of a line that the index needs.
type logLine struct {
	location
	dropped
	Name        string    `json:"name"`
	State       string    `json:"state"`
	SHA256      string    `json:"sha256"`
	Bytes       int64     `json:"bytes"`
	Modified    time.Time `json:"modified"`
	SetID       string    `json:"setId"`
	DataspaceID string    `json:"dataspaceId"`
}

// change is the transition of a resource from one entry to another.
type change struct {
	id       string
	old, new *entry // nil: no entry
	text     []byte // the line
	modified time.Time
}

// staged returns the path at which the new file of a change waits for its rename. A file there is
// complete.
func (c *change) staged() string { return stagedName(c.id, c.new.digest) }

func stagedName(id string, digest blobs.Digest) string {
	return incomingName + "/" + id + "-" + digest.String()
}

// openLog opens metadata.jsonl and truncates an unfinished batch. If all is set, every line counts,
// whatever the state says.
func (m *mirror) openLog(all bool) (err error) {
	j := &m.state.Metadata
	if j.Compacted > 0 { // the compacted log counts, whether or not it was renamed
		if m.Exists(metadataName + ".new") {
			err = m.Rename(metadataName+".new", metadataName)
		}
		if err == nil {
			err = m.Sync(".")
		}
		*j = journal{Bytes: j.Compacted, Done: j.Compacted, Lines: j.Lines}
	}
	if err != nil {
		return err
	}
	if m.log, err = m.Root.OpenFile(metadataName, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return fetch.DiskError(err)
	}
	info, err := m.log.Stat()
	switch {
	case err != nil:
		return fetch.DiskError(err)
	case all:
		j.Bytes, j.Done = info.Size(), info.Size()
	case info.Size() < j.Bytes:
		return m.damagedf("%s has %d bytes, but %d were written", metadataName, info.Size(), j.Bytes)
	case info.Size() > j.Bytes:
		return fetch.DiskError(m.log.Truncate(j.Bytes))
	}
	return nil
}

// readLines calls each with every line between two offsets. The text is valid during the call.
func (m *mirror) readLines(from, to int64, each func(at int64, text []byte) error) error {
	scanner := bufio.NewScanner(io.NewSectionReader(m.log, from, to-from))
	scanner.Buffer(make([]byte, 64<<10), maxLine)
	for at := from; scanner.Scan(); at += int64(len(scanner.Bytes())) + 1 {
		if err := each(at, scanner.Bytes()); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return m.damagedf("%s cannot be read: %v", metadataName, err)
	}
	return nil
}

// load builds the index from the lines before done. A lenient load skips invalid lines; otherwise
// they return errMirror.
func (m *mirror) load(done int64, lenient bool) error {
	m.index, m.containers, m.paths = map[string]*entry{}, map[string]*container{}, archive.NewPaths()
	err := m.readLines(0, done, func(at int64, text []byte) error {
		c, err := m.parse(at, text)
		if err != nil && !lenient {
			return m.damagedf("%s has an invalid record at byte %d", metadataName, at)
		}
		if err == nil {
			m.updateIndex(c)
		}
		return nil
	})
	for id, e := range m.index {
		if e.path != "" {
			m.paths.Give(id, strings.TrimPrefix(e.path, filesName+"/"))
		}
	}
	return err
}

// parse decodes a line.
func (m *mirror) parse(at int64, text []byte) (*change, error) {
	var k logLine
	if err := json.Unmarshal(text, &k); err != nil {
		return nil, err
	}
	c := &change{id: k.ID, old: m.index[k.ID], text: bytes.Clone(text), modified: k.Modified}
	if k.Dropped {
		return c, nil
	}
	digest, err := blobs.ParseDigest(k.SHA256)
	if err != nil {
		return nil, err
	}
	if !reference.IDPattern.MatchString(k.ID) || k.Path != "" && !strings.HasPrefix(k.Path, filesName+"/") || k.Path != "" && k.State != client.Active {
		return nil, errors.New("no record")
	}
	c.new = &entry{container: m.containerAs(k.SetID, container{k.DataspaceID, k.Dataspace, k.Set}), path: k.Path, name: k.Name, bytes: k.Bytes,
		digest: digest, active: k.State == client.Active, at: at, sum: checksum(text)}
	return c, nil
}

// containerAs returns the container of a set, and adds it to the index if necessary.
func (m *mirror) containerAs(setID string, h container) *container {
	if m.containers[setID] == nil {
		m.containers[setID] = &h
	}
	return m.containers[setID]
}

// updateIndex applies a change to the index.
func (m *mirror) updateIndex(c *change) {
	if c.new == nil {
		delete(m.index, c.id)
		return
	}
	m.index[c.id] = c.new
}

// checksum distinguishes lines.
func checksum(text []byte) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write(text)
	return sum.Sum64()
}

// readLine reads the line of an entry.
func (m *mirror) readLine(e *entry) (b location, r client.Resource, err error) {
	text, err := bufio.NewReader(io.NewSectionReader(m.log, e.at, m.state.Metadata.Bytes-e.at)).ReadBytes('\n')
	if err == nil {
		err = errors.Join(json.Unmarshal(text, &b), json.Unmarshal(text, &r))
	}
	if err != nil {
		err = m.damagedf("%s has an invalid record at byte %d", metadataName, e.at)
	}
	return b, r, err
}

// appendLines appends the lines of changes, and commits them with the state, which then modifies.
// The caller then calls apply.
func (m *mirror) appendLines(changes []*change, then func(*state)) error {
	var text []byte
	j := &m.state.Metadata
	for _, c := range changes {
		if c.new != nil {
			c.new.at, c.new.sum = j.Bytes+int64(len(text)), checksum(c.text)
		}
		text = append(append(text, c.text...), '\n')
	}
	if len(text) > 0 {
		err := m.Change(func() error {
			_, err := m.log.WriteAt(text, j.Bytes)
			return errors.Join(err, m.log.Sync())
		})
		if err == nil {
			err = m.Sync(incomingName)
		}
		if err != nil {
			return err
		}
		j.Bytes, j.Lines, j.Left, m.state.Unsettled = j.Bytes+int64(len(text)), j.Lines+len(changes), false, true
		m.state.Changed = time.Now().UTC().Truncate(time.Second)
	}
	then(&m.state)
	if err := m.writeState(); err != nil {
		return err
	}
	for _, c := range changes {
		m.updateIndex(c)
	}
	return nil
}

// compactBelow is the size in bytes up to which every run compacts metadata.jsonl. A larger log may
// have twice as many lines as resources.
const compactBelow = 64 << 20

// shouldCompact reports whether the superseded lines of metadata.jsonl should be removed.
func (m *mirror) shouldCompact() bool {
	j := m.state.Metadata
	return j.Lines > len(m.index) && (j.Bytes <= compactBelow || j.Lines >= 2*len(m.index))
}

// compact rewrites metadata.jsonl without superseded lines. All lines must have been applied.
func (m *mirror) compact() error {
	list := make([]*entry, 0, len(m.index))
	for _, e := range m.index {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.at, b.at) })
	var size int64
	err := m.Change(func() (err error) {
		size, err = m.copyLines(list)
		return err
	})
	if err != nil {
		return err
	}
	if size == 0 { // Compacted 0 means no compacted file
		m.state.Metadata = journal{}
		if err := m.writeState(); err != nil {
			return err
		}
		return fetch.DiskError(m.log.Truncate(0))
	}
	m.state.Metadata.Compacted, m.state.Metadata.Lines = size, len(list)
	if err := m.writeState(); err != nil {
		return err
	}
	if err := m.log.Close(); err != nil {
		return fetch.DiskError(err)
	}
	if err := m.openLog(false); err != nil {
		return err
	}
	return m.writeState()
}

// copyLines writes the lines of entries to a new file, updates their offsets, and returns the
// file's size.
func (m *mirror) copyLines(list []*entry) (size int64, err error) {
	file, err := m.Root.OpenFile(metadataName+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return 0, err
	}
	to, next := bufio.NewWriterSize(file, 1<<20), 0
	err = m.readLines(0, m.state.Metadata.Bytes, func(at int64, text []byte) error {
		if next == len(list) || list[next].at != at {
			return nil
		}
		list[next].at = size
		next++
		size += int64(len(text)) + 1
		_, err := to.Write(text)
		return errors.Join(err, to.WriteByte('\n'))
	})
	if err == nil && next < len(list) {
		err = fmt.Errorf("%w: lines are missing", errMirror)
	}
	return size, errors.Join(err, to.Flush(), file.Sync(), file.Close())
}
