package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// harvests runs repeated harvests of one unchanged set into one folder.
type harvests struct {
	*bench
	data, mirror string
	address      string // address of the service, the same at each start: the mirror stores a URL to continue from
}

// harvest measures "labshelf harvest" of a set without changes since the last harvest. It compares
// the number of requests with the first harvest.
func (b *bench) harvest(ctx context.Context) (rows []row, err error) {
	h := &harvests{bench: b, data: filepath.Join(b.folder, "harvested"), mirror: filepath.Join(b.folder, "mirror")}
	defer func() { err = errors.Join(err, os.RemoveAll(h.data), os.RemoveAll(h.mirror)) }()
	if h.address, err = freeAddress(); err != nil {
		return nil, err
	}
	b.say("a set of %d resources, and its first harvest", b.many)
	if err := h.fill(ctx); err != nil {
		return nil, err
	}
	first, err := h.requests(ctx, b.many)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("harvest of %d resources, nothing changed, requests", b.many)
	r := row{what: what, unit: "requests", reference: "the first harvest", targets: []target{figureAtMost(1)}}
	for round := range b.rounds {
		b.say("%s, round %d", what, round+1)
		requests, err := h.requests(ctx, 0)
		if err != nil {
			return nil, err
		}
		r.add(float64(requests), float64(first))
	}
	return []row{r}, nil
}

// fill creates the repository.
func (h *harvests) fill(ctx context.Context) error {
	g := &generator{size: size{resources: h.many, sets: 1, dataspaces: 1, bodies: h.files}, folder: h.data,
		random: rand.New(rand.NewPCG(0, 0)), say: h.say}
	return g.run(ctx)
}

// requests harvests once, and checks the number of fetched files. It returns the number of requests
// that the service has logged from its start to its end. All of them belong to the harvest, because
// there is no other client.
func (h *harvests) requests(ctx context.Context, fetched int) (requests int, err error) {
	var open closers
	s := &subject{data: h.data}
	if err = s.run(ctx, &open, h.program, "--listen", h.address); err == nil {
		err = h.once(ctx, s, fetched)
	}
	open.close(&err) // completes the log
	if err != nil {
		return 0, err
	}
	requests, pages, err := logged(h.data + ".log")
	if err == nil && (pages == 0 || requests-fetched < pages) {
		err = fmt.Errorf("the log has %d requests, %d of them for pages, but %d files were fetched", requests, pages, fetched)
	}
	return requests, err
}

// logged counts the requests in a log of the service, and those among them that returned a page of
// a listing of resources.
func logged(path string) (requests, pages int, err error) {
	log, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var line struct {
			Message, Method, Path string
			Status                int
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", path, err)
		}
		if line.Message != "request" {
			continue
		}
		requests++
		listing := strings.TrimSuffix(line.Path, "/query/results/") // the log omits the rest
		if line.Method == "GET" && line.Status == 200 && strings.HasSuffix(listing, "/resources") {
			pages++
		}
	}
	return requests, pages, lines.Err()
}

// once harvests, and checks the number of fetched files and that the mirror is complete.
func (h *harvests) once(ctx context.Context, s *subject, fetched int) error {
	args := []string{"harvest", "set-0", h.mirror, "--json"}
	if fetched > 0 { // not measured; sequential syncs would take long
		args = append(args, "--parallel", "16")
	}
	output, err := runToEnd(h.command(ctx, s, args...))
	if err != nil {
		return err
	}
	var did struct{ Fetched, Changed, Deleted, Missing, Files int }
	if err := json.Unmarshal(output, &did); err != nil {
		return fmt.Errorf("harvest: %w\n%s", err, output)
	}
	want := did
	want.Fetched, want.Changed, want.Deleted, want.Missing, want.Files = fetched, 0, 0, 0, h.many
	if did != want {
		return fmt.Errorf("the harvest reported %+v, want %+v", did, want)
	}
	return nil
}
