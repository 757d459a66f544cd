package commands

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

	"labshelf/archive"
	"labshelf/blobs"
	"labshelf/client"
)

// maxLine is the size in bytes beyond which a line is no record: the longest texts that a record may have, each byte escaped.
const maxLine = 1 << 20

// entry is what is known of a resource that the mirror has.
type entry struct {
	home   *home
	path   string // of its file, below the folder of the mirror; "": it is deleted, or its file is missing
	name   string
	bytes  int64
	digest blobs.Digest
	active bool

	at   int64  // where its line begins
	sum  uint64 // of that line
	seen bool   // in this walk from the start
}

// home is where a resource is: the set that it can never leave.
type home struct {
	dataspaceID    string
	dataspace, set string // names; "" where the mirror has no folder for them
}

// full is the name of a resource with those of the folders in front.
func (h *home) full(id, name string) string {
	if archive.Clean(name) == "" {
		name = id
	}
	parts := []string{h.dataspace, h.set, name}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "/")
}

// beside is what a line has beside the record.
type beside struct {
	Path      string `json:"path,omitempty"`
	Dataspace string `json:"dataspace,omitempty"`
	Set       string `json:"set,omitempty"`
}

// encoded is a line without its end.
func encoded(b beside, r client.Resource) ([]byte, error) {
	head, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	r.Damaged = false // that passes, and no listing of changes tells of it
	record, err := json.Marshal(r)
	if err != nil || len(head) == len("{}") {
		return record, err
	}
	return slices.Concat(head[:len(head)-1], []byte(","), record[1:]), nil
}

// dropped is the line that ends what was known of a resource.
type dropped struct {
	ID      string `json:"id"`
	Dropped bool   `json:"dropped"`
}

// known is what the index keeps of a line.
type known struct {
	beside
	dropped
	Name        string    `json:"name"`
	State       string    `json:"state"`
	SHA256      string    `json:"sha256"`
	Bytes       int64     `json:"bytes"`
	Modified    time.Time `json:"modified"`
	SetID       string    `json:"setId"`
	DataspaceID string    `json:"dataspaceId"`
}

// change is what becomes of a resource.
type change struct {
	id       string
	old, new *entry // nil: there is none
	text     []byte // its line
	modified time.Time
}

// staged is where the new file of a change waits for its name. It is there only when it is whole.
func (c *change) staged() string { return stagedName(c.id, c.new.digest) }

func stagedName(id string, digest blobs.Digest) string {
	return incomingName + "/" + id + "-" + digest.String()
}

// openLog opens metadata.jsonl, and cuts off what was not finished. With anyway, what is there counts, whatever the state says.
func (m *mirror) openLog(anyway bool) (err error) {
	j := &m.state.Metadata
	if j.Compacted > 0 { // it counts, whether or not it has got its name
		if m.there(metadataName + ".new") {
			err = m.rename(metadataName+".new", metadataName)
		}
		if err == nil {
			err = m.sync(".")
		}
		*j = journal{Bytes: j.Compacted, Done: j.Compacted, Lines: j.Lines}
	}
	if err != nil {
		return err
	}
	if m.log, err = m.root.OpenFile(metadataName, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return disk(err)
	}
	info, err := m.log.Stat()
	switch {
	case err != nil:
		return disk(err)
	case anyway:
		j.Bytes, j.Done = info.Size(), info.Size()
	case info.Size() < j.Bytes:
		return m.damagedf("%s has %d bytes, and %d were written", metadataName, info.Size(), j.Bytes)
	case info.Size() > j.Bytes:
		return disk(m.log.Truncate(j.Bytes))
	}
	return nil
}

// lines reads the lines between two places. The text is valid until the next one.
func (m *mirror) lines(from, to int64, each func(at int64, text []byte) error) error {
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

// load builds the index from the lines up to done. lenient leaves out lines that say nothing, instead of errMirror.
func (m *mirror) load(done int64, lenient bool) error {
	m.index, m.homes, m.paths = map[string]*entry{}, map[string]*home{}, archive.NewPaths()
	err := m.lines(0, done, func(at int64, text []byte) error {
		c, err := m.parse(at, text)
		if err != nil && !lenient {
			return m.damagedf("%s has something else than a record at byte %d", metadataName, at)
		}
		if err == nil {
			m.note(c)
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

// parse reads a line.
func (m *mirror) parse(at int64, text []byte) (*change, error) {
	var k known
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
	if !anID.MatchString(k.ID) || k.Path != "" && !strings.HasPrefix(k.Path, filesName+"/") || k.Path != "" && k.State != client.Active {
		return nil, errors.New("no record")
	}
	c.new = &entry{home: m.homeAs(k.SetID, home{k.DataspaceID, k.Dataspace, k.Set}), path: k.Path, name: k.Name, bytes: k.Bytes,
		digest: digest, active: k.State == client.Active, at: at, sum: sumOf(text)}
	return c, nil
}

// homeAs returns the one home with the id of its set.
func (m *mirror) homeAs(setID string, h home) *home {
	if m.homes[setID] == nil {
		m.homes[setID] = &h
	}
	return m.homes[setID]
}

// note brings the index up to a change.
func (m *mirror) note(c *change) {
	if c.new == nil {
		delete(m.index, c.id)
		return
	}
	m.index[c.id] = c.new
}

// sumOf tells lines apart.
func sumOf(text []byte) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write(text)
	return sum.Sum64()
}

// line reads one line again.
func (m *mirror) line(e *entry) (b beside, r client.Resource, err error) {
	text, err := bufio.NewReader(io.NewSectionReader(m.log, e.at, m.state.Metadata.Bytes-e.at)).ReadBytes('\n')
	if err == nil {
		err = errors.Join(json.Unmarshal(text, &b), json.Unmarshal(text, &r))
	}
	if err != nil {
		err = m.damagedf("%s has something else than a record at byte %d", metadataName, e.at)
	}
	return b, r, err
}

// write puts the lines of changes behind the others, and has the state count them, with what else then changes in it. The files
// are to follow, by apply.
func (m *mirror) write(changes []*change, then func(*progress)) error {
	var text []byte
	j := &m.state.Metadata
	for _, c := range changes {
		if c.new != nil {
			c.new.at, c.new.sum = j.Bytes+int64(len(text)), sumOf(c.text)
		}
		text = append(append(text, c.text...), '\n')
	}
	if len(text) > 0 {
		err := m.change(func() error {
			_, err := m.log.WriteAt(text, j.Bytes)
			return errors.Join(err, m.log.Sync())
		})
		if err == nil {
			err = m.sync(incomingName)
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
		m.note(c)
	}
	return nil
}

// compactBelow is the size in bytes below which metadata.jsonl never keeps a line that does not count. Above, it may have twice as
// many as there are resources.
const compactBelow = 64 << 20

// wasteful tells whether metadata.jsonl should be compacted: many of its lines do not count, or it is short.
func (m *mirror) wasteful() bool {
	j := m.state.Metadata
	return j.Lines > len(m.index) && (j.Bytes <= compactBelow || j.Lines >= 2*len(m.index))
}

// compact leaves out the lines that do not count. All that do are done.
func (m *mirror) compact() error {
	list := make([]*entry, 0, len(m.index))
	for _, e := range m.index {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.at, b.at) })
	var size int64
	err := m.change(func() (err error) {
		size, err = m.copyLines(list)
		return err
	})
	if err != nil {
		return err
	}
	if size == 0 { // a length of 0 says nothing
		m.state.Metadata = journal{}
		if err := m.writeState(); err != nil {
			return err
		}
		return disk(m.log.Truncate(0))
	}
	m.state.Metadata.Compacted, m.state.Metadata.Lines = size, len(list)
	if err := m.writeState(); err != nil {
		return err
	}
	if err := m.log.Close(); err != nil {
		return disk(err)
	}
	if err := m.openLog(false); err != nil {
		return err
	}
	return m.writeState()
}

// copyLines writes the lines of entries into a new file and returns its size. From then on they are where they are there.
func (m *mirror) copyLines(list []*entry) (size int64, err error) {
	file, err := m.root.OpenFile(metadataName+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return 0, err
	}
	to, next := bufio.NewWriterSize(file, 1<<20), 0
	err = m.lines(0, m.state.Metadata.Bytes, func(at int64, text []byte) error {
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
