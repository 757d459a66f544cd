package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// downloads measures the download rate of small files, first while the service stores them in its
// database, then after it has written them to files. It compares both with Go's own server, which
// keeps the files in memory.
func (b *bench) downloads(ctx context.Context) (rows []row, err error) {
	var open closers
	defer open.close(&err)
	service, err := b.start(ctx, &open, "downloads", "--stall-timeout", "10m", "--min-rate", "0")
	if err != nil {
		return nil, err
	}
	pending, err := beginUpload(ctx, &open, service)
	if err != nil {
		return nil, err
	}
	files, err := b.sendFiles(ctx, service)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(b.folder, "files-in-memory")
	if err := files.write(folder); err != nil {
		return nil, err
	}
	memory, err := b.startPlain(ctx, &open, folder)
	if err != nil {
		return nil, err
	}
	if rows, err = b.downloadsInline(ctx, service, files, memory); err != nil {
		return nil, err
	}
	if err := pending.finish(); err != nil {
		return nil, err
	}
	if _, err := waitForFiles(ctx, service.data, len(files.bodies)+1); err != nil {
		return nil, err
	}
	r := downloadsRow("as files", 0.65)
	err = b.compareDownloads(ctx, &r, service, memory, files)
	return append(rows, r), err
}

func downloadsRow(where string, least float64) row {
	return row{what: "4 KiB downloads, clients: 16, " + where, unit: "1/s", reference: "Go from memory", targets: []target{ratioAtLeast(least)}}
}

// downloadsInline measures downloads of bodies in the database, and checks that they stay there
// during the measurement.
func (b *bench) downloadsInline(ctx context.Context, s *subject, files *small, memory *server) ([]row, error) {
	before, err := countFiles(s.data)
	if err != nil {
		return nil, err
	}
	if before > 0 {
		b.say("this program writes each body to a file immediately: the row of bodies in the database is skipped")
		return nil, nil
	}
	r := downloadsRow("in the database", 0.85)
	if err := b.compareDownloads(ctx, &r, s, memory, files); err != nil {
		return nil, err
	}
	after, err := countFiles(s.data)
	if err == nil && after > 0 {
		err = fmt.Errorf("%d bodies were written to files during the measurement of bodies in the database", after)
	}
	return []row{r}, err
}

// compareDownloads adds the download rates of the service and of another server to a row.
func (b *bench) compareDownloads(ctx context.Context, r *row, s *subject, other *server, files *small) error {
	for round := range b.rounds {
		b.say("%s, and %s, round %d", r.what, r.reference, round+1)
		ours, err := b.download(ctx, s.peer, files.paths, files.bodies)
		if err != nil {
			return err
		}
		theirs, err := b.download(ctx, other.peer, files.names, files.bodies)
		if err != nil {
			return fmt.Errorf("%s: %w", r.reference, err)
		}
		r.add(ours.perSecond(), theirs.perSecond())
	}
	return nil
}

// small holds the files to download.
type small struct {
	names, paths []string // on the other server, and on the service
	bodies       [][]byte
}

// sendFiles uploads the files to the service.
func (b *bench) sendFiles(ctx context.Context, s *subject) (*small, error) {
	w, err := dial(ctx, s.peer)
	if err != nil {
		return nil, err
	}
	defer w.close()
	u := newUploader(w, s.peer, s.set, smallFile, b.number)
	files := &small{}
	for i := range b.files {
		if err := u.upload(); err != nil {
			return nil, err
		}
		files.names = append(files.names, "/"+strconv.Itoa(i))
		files.paths = append(files.paths, "/resources/"+u.receipts[i].id+"/data")
		files.bodies = append(files.bodies, body(smallFile, u.receipts[i].number))
	}
	return files, u.verify()
}

// write writes the files to a new folder.
func (f *small) write(folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	for i, name := range f.names {
		if err := os.WriteFile(filepath.Join(folder, name), f.bodies[i], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// download runs clients that get the paths from a server, each beginning at another path. The
// content must equal the bodies.
func (b *bench) download(ctx context.Context, p peer, paths []string, bodies [][]byte) (load, error) {
	wires, err := dials(ctx, p, manyClients)
	if err != nil {
		return load{}, err
	}
	defer closeAll(wires)
	requests := make([][]byte, len(paths))
	for i, path := range paths {
		requests[i] = p.get(path)
	}
	workers := make([]func() error, len(wires))
	for i, w := range wires {
		at := i * len(paths) / len(wires)
		workers[i] = func() error {
			at = (at + 1) % len(paths)
			got, err := w.want(200, requests[at])
			if err == nil && !bytes.Equal(got, bodies[at]) {
				err = fmt.Errorf("%s differs from the upload", paths[at])
			}
			return err
		}
	}
	return work(workers, b.load)
}

// openUpload is an unfinished upload. While it runs, the service keeps earlier bodies in the
// database.
type openUpload struct {
	wire *wire
	rest []byte
}

// beginUpload begins an upload. Closing open aborts it, unless it is finished.
func beginUpload(ctx context.Context, open *closers, s *subject) (*openUpload, error) {
	w, err := dial(ctx, s.peer)
	if err != nil {
		return nil, err
	}
	open.later(func() error { w.close(); return nil })
	_, err = w.conn.Write(uploadHead(s.peer, s.set, "pending", smallFile))
	return &openUpload{wire: w, rest: append(noise(smallFile), uploadTail...)}, err
}

// finish completes the upload.
func (h *openUpload) finish() error {
	_, err := h.wire.want(201, h.rest)
	return err
}
