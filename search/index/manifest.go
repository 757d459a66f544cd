package index

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The manifest lists the current segment files, their dead documents, and the caller's position. It
// is written again, under a temporary name first, whenever a file is added. Opening the index
// removes files that it does not list.

const (
	manifestName  = "manifest"
	newManifest   = "manifest.new"
	manifestMagic = "labshelf index manifest 1\n"
	segmentSuffix = ".segment"
)

// manifest is the content of the manifest without the dead documents.
type manifest struct {
	next     uint64 // number of the next segment file
	position []byte
}

func segmentName(number uint64) string {
	return fmt.Sprintf("%016x%s", number, segmentSuffix)
}

// segmentFile is a mapped file. Its fields are under Index.mu.
type segmentFile struct {
	path     string
	data     []byte
	refs     int  // snapshots that use it
	obsolete bool // in no manifest
}

// tidy unmaps an unused file, and removes it if it is obsolete. If that fails, the next opening of
// the index removes it.
func (f *segmentFile) tidy() {
	if f.refs > 0 {
		return
	}
	if f.data != nil {
		_ = unmapFile(f.data)
		f.data = nil
	}
	if f.obsolete {
		_ = os.Remove(f.path)
	}
}

// openPart maps a segment file.
func openPart(path string) (part, error) {
	f, err := os.Open(path)
	if err != nil {
		return part{}, err
	}
	defer func() { _ = f.Close() }() // it was only read, and the mapping stays valid
	info, err := f.Stat()
	if err != nil {
		return part{}, err
	}
	if info.Size() < int64(len(segmentMagic)+footerBytes) {
		return part{}, ErrDamaged
	}
	data, err := mapFile(f, int(info.Size()))
	if err != nil {
		return part{}, err
	}
	p := part{file: &segmentFile{path: path, data: data}}
	err = guard(func() (err error) {
		p.segment, err = openSegment(data)
		return err
	})
	if err != nil {
		return part{}, errors.Join(err, unmapFile(data))
	}
	p.dead = make([]bitmap, len(p.shards))
	return p, nil
}

// footerSum identifies a segment by the checksum of its footer. The footer contains the other
// checksums, except the checksums of the shards, which are in the directory.
func (s *segment) footerSum() uint32 {
	return binary.LittleEndian.Uint32(s.data[len(s.data)-4:])
}

// appendPart appends the manifest entry of a segment file.
func appendPart(b []byte, p *part) []byte {
	name := filepath.Base(p.file.path)
	b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	b = binary.AppendUvarint(b, uint64(len(p.data)))
	b = binary.AppendUvarint(b, uint64(p.footerSum()))
	for i, dead := range p.dead {
		if dead == nil {
			continue
		}
		b = binary.AppendUvarint(b, uint64(i+1))
		for _, word := range dead {
			b = binary.LittleEndian.AppendUint64(b, word)
		}
	}
	return binary.AppendUvarint(b, 0)
}

// save durably writes the manifest of the files among parts.
func (x *Index) save(parts []part, position []byte) error {
	b := []byte(manifestMagic)
	b = binary.AppendUvarint(b, x.next)
	b = append(binary.AppendUvarint(b, uint64(len(position))), position...)
	files := 0
	var described []byte
	for i := range parts {
		if parts[i].file != nil {
			described = appendPart(described, &parts[i])
			files++
		}
	}
	b = append(binary.AppendUvarint(b, uint64(files)), described...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if err := x.writeFile(newManifest, func(w *bufio.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return err
	}
	if err := os.Rename(x.path(newManifest), x.path(manifestName)); err != nil {
		return err
	}
	x.step("rename " + manifestName)
	return syncDir(x.dir)
}

// writeFile writes and syncs a new file. After an error it removes the file.
func (x *Index) writeFile(name string, write func(w *bufio.Writer) error) error {
	f, err := os.OpenFile(x.path(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	x.step("create " + name)
	w := bufio.NewWriterSize(stepWriter{f, x.step}, 1<<18)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(x.path(name)))
	}
	x.step("sync " + name)
	return nil
}

// stepWriter reports each write to a test.
type stepWriter struct {
	*os.File
	step func(string)
}

func (w stepWriter) Write(b []byte) (int, error) {
	n, err := w.File.Write(b)
	w.step("write " + w.Name())
	return n, err
}

// load opens the files listed in the manifest of a directory; without a manifest, none. After any
// error it returns ErrDamaged and no files.
func load(dir string) (m manifest, parts []part, err error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return manifest{}, nil, nil
	}
	if err != nil {
		return manifest{}, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	m, parts, err = readManifest(dir, data)
	if err == nil {
		return m, parts, nil
	}
	for _, p := range parts {
		err = errors.Join(err, unmapFile(p.file.data))
	}
	return manifest{}, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
}

// readManifest returns the opened parts even with an error.
func readManifest(dir string, data []byte) (m manifest, parts []part, err error) {
	end := len(data) - 4
	if end < len(manifestMagic) || !bytes.HasPrefix(data, []byte(manifestMagic)) ||
		crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(data[end:]) {
		return m, nil, ErrDamaged
	}
	r := reader{data[len(manifestMagic):end]}
	m.next = r.number()
	m.position = bytes.Clone(r.bytes(int(r.number())))
	for range r.number() {
		p, err := r.part(dir)
		if p.segment != nil {
			parts = append(parts, p)
		}
		if err != nil {
			return m, parts, err
		}
	}
	return m, parts, nil
}

// reader reads a manifest with a valid checksum.
type reader struct {
	rest []byte
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	r.rest = r.rest[size:]
	return n
}

func (r *reader) bytes(n int) []byte {
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// part opens a segment file, and marks its dead documents.
func (r *reader) part(dir string) (part, error) {
	name := string(r.bytes(int(r.number())))
	size, sum := r.number(), r.number()
	p, err := openPart(filepath.Join(dir, name))
	if err != nil {
		return part{}, err
	}
	if uint64(len(p.data)) != size || uint64(p.footerSum()) != sum {
		return p, ErrDamaged
	}
	for at := r.number(); at != 0; at = r.number() {
		dead := newBitmap(p.shards[at-1].docs)
		for i := range dead {
			dead[i] = binary.LittleEndian.Uint64(r.bytes(8))
		}
		p.dead[at-1] = dead
	}
	return p, nil
}

// removeOthers removes the index files that are not among parts.
func removeOthers(dir string, parts []part) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, p := range parts {
		named[filepath.Base(p.file.path)] = true
	}
	for _, e := range entries {
		if e.Name() != newManifest && (!strings.HasSuffix(e.Name(), segmentSuffix) || named[e.Name()]) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
