package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// verifiedSizes are the sizes of the files that are downloaded verified and as they are, in bytes.
func (b *bench) verifiedSizes() []int {
	if !b.rest { // a quick run
		return []int{4 << 10, 1 << 20}
	}
	return []int{4 << 10, 32 << 10, 256 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20}
}

// verified measures what it costs to compare the SHA-256 of a file while it is downloaded, for files of several sizes. The file lies
// in the memory of the system, so that nothing hides the cost.
func (b *bench) verified(ctx context.Context) (rows []row, err error) {
	if !onLinux {
		b.say("only Linux tells the processor time of another process: verified downloads are left out")
		return nil, nil
	}
	var open closers
	defer open.close(&err)
	services := map[string]*subject{}
	for _, verify := range []string{"true", "false"} {
		s, err := b.start(ctx, &open, "verified-"+verify, "--verify-reads="+verify, "--hold-up-to=0")
		if err != nil {
			return nil, err
		}
		services[verify] = s
	}
	for _, size := range b.verifiedSizes() {
		more, err := b.verifiedAt(ctx, services, body(size, b.number()))
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// verifiedAt measures the downloads of one file.
func (b *bench) verifiedAt(ctx context.Context, services map[string]*subject, content []byte) ([]row, error) {
	what := fmt.Sprintf("download of %s, verified", inBytes(len(content)))
	cost := row{what: what + ", processor time", unit: "µs", beside: "sendfile"}
	speed := row{what: what, unit: "MiB/s", beside: "sendfile"}
	paths := map[string]string{}
	for verify, s := range services {
		id, err := b.uploadBody(ctx, s, content)
		if err != nil {
			return nil, err
		}
		paths[verify] = "/resources/" + id + "/data"
	}
	for round := range b.moreRounds {
		b.say("%s, round %d", what, round+1)
		ours, err := b.downloadBody(ctx, services["true"], paths["true"], content)
		if err != nil {
			return nil, err
		}
		theirs, err := b.downloadBody(ctx, services["false"], paths["false"], content)
		if err != nil {
			return nil, err
		}
		cost.add(ours.cost, theirs.cost)
		speed.add(ours.speed, theirs.speed)
	}
	return []row{cost, speed}, nil
}

func inBytes(n int) string {
	if n < mib {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n/mib)
}

// uploadBody uploads one file and returns the id of its resource.
func (b *bench) uploadBody(ctx context.Context, s *subject, content []byte) (id string, err error) {
	w, err := dial(ctx, s.peer)
	if err != nil {
		return "", err
	}
	defer w.close()
	if _, err = w.conn.Write(uploadHead(s.peer, s.set, filenameOf(b.number()), int64(len(content)))); err != nil {
		return "", err
	}
	if _, err = w.conn.Write(content); err != nil {
		return "", err
	}
	if _, err = io.WriteString(w.conn, uploadTail); err != nil {
		return "", err
	}
	answer, err := w.answer(201)
	if err == nil && member(answer, "id") == "" {
		err = errors.New("the upload has no id")
	}
	return member(answer, "id"), err
}

// downloadBody takes a file again and again over one connection, and compares it. The cost is in µs of the server for each.
func (b *bench) downloadBody(ctx context.Context, s *subject, path string, content []byte) (d largeDownload, err error) {
	w, err := dial(ctx, s.peer)
	if err != nil {
		return d, err
	}
	defer w.close()
	request := s.get(path)
	before, err := processorTime(s.PID())
	if err != nil {
		return d, err
	}
	taken, err := work([]func() error{func() error { return w.takeBody(request, content) }}, b.load)
	if err != nil {
		return d, err
	}
	after, err := processorTime(s.PID())
	n := float64(len(taken.turns))
	d.speed = n * float64(len(content)) / mib / taken.took.Seconds()
	d.cost = float64((after - before).Microseconds()) / n
	return d, err
}

// takeBody sends a request and compares the body of its answer.
func (w *wire) takeBody(request, content []byte) error {
	if _, err := w.conn.Write(request); err != nil {
		return err
	}
	length, err := w.head(200)
	if err == nil && length != len(content) {
		err = fmt.Errorf("%d bytes were sent instead of %d", length, len(content))
	}
	if err != nil {
		return err
	}
	rest := content
	return w.each(length, func(piece []byte) error {
		if !bytes.HasPrefix(rest, piece) {
			return errors.New("a download is not what was uploaded")
		}
		rest = rest[len(piece):]
		return nil
	})
}
