package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// harvests are those of one set, in which nothing changes, into one folder.
type harvests struct {
	*bench
	data, mirror string
	address      string // of the service, whenever it runs: the mirror keeps where it goes on
}

// harvest measures "labshelf harvest" of a set in which nothing has changed since the last time: what it asks for, beside the first
// one, and how long it takes, beside a curl that asks for the same page.
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
	atFirst, err := h.asked(ctx, b.many)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("harvest of %d resources, nothing changed", b.many)
	requests := row{what: what + ", requests", unit: "requests", beside: "the first harvest", targets: []target{figureAtMost(1)}}
	took := row{what: what, unit: "ms", beside: "curl of the same page"}
	_, err = exec.LookPath("curl")
	withCurl := err == nil
	for round := range b.rounds {
		b.say("%s, round %d", what, round+1)
		asked, err := h.asked(ctx, 0)
		if err != nil {
			return nil, err
		}
		requests.add(float64(asked), float64(atFirst))
		if !withCurl {
			continue
		}
		ours, theirs, err := h.times(ctx)
		if err != nil {
			return nil, err
		}
		took.add(ours, theirs)
	}
	if !withCurl {
		b.say("curl is not installed: the time beside it is left out")
		return []row{requests}, nil
	}
	return []row{requests, took}, nil
}

// fill makes the repository.
func (h *harvests) fill(ctx context.Context) error {
	g := &generator{size: size{resources: h.many, sets: 1, dataspaces: 1, bodies: h.files}, folder: h.data,
		random: rand.New(rand.NewPCG(0, 0)), say: h.say}
	return g.run(ctx)
}

// run runs the service, until open is closed.
func (h *harvests) run(ctx context.Context, open *closers) (*subject, error) {
	s := &subject{data: h.data}
	return s, s.run(ctx, open, h.program, "--listen", h.address)
}

// asked harvests once, where so many files are to be fetched, and returns how many requests the service has logged from its start to
// its end: those of the harvest, since nobody else asks.
func (h *harvests) asked(ctx context.Context, fetched int) (requests int, err error) {
	var open closers
	s, err := h.run(ctx, &open)
	if err == nil {
		_, err = h.once(ctx, s, fetched)
	}
	open.close(&err) // and so all is in the log
	if err != nil {
		return 0, err
	}
	requests, pages, err := logged(h.data + ".log")
	if err == nil && (pages == 0 || requests-fetched < pages) {
		err = fmt.Errorf("the log has %d requests, of which %d are for pages, with %d files fetched", requests, pages, fetched)
	}
	return requests, err
}

// logged counts the requests in a log of the service, and among them those that were answered with a page of a listing of resources.
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
		listing := strings.TrimSuffix(line.Path, "/query/results/") // the log leaves out what follows
		if line.Method == "GET" && line.Status == 200 && strings.HasSuffix(listing, "/resources") {
			pages++
		}
	}
	return requests, pages, lines.Err()
}

// once harvests, sees that so many files were fetched and that all are there then, and returns how many ms it took.
func (h *harvests) once(ctx context.Context, s *subject, fetched int) (took float64, err error) {
	args := []string{"harvest", "set-0", h.mirror, "--json"}
	if fetched > 0 { // of which nobody measures the time: a sync for each file is long enough
		args = append(args, "--parallel", "16")
	}
	output, took, err := ran(h.command(ctx, s, args...))
	if err != nil {
		return 0, err
	}
	var did struct{ Fetched, Changed, Deleted, Missing, Files int }
	if err := json.Unmarshal(output, &did); err != nil {
		return 0, fmt.Errorf("harvest: %w\n%s", err, output)
	}
	want := did
	want.Fetched, want.Changed, want.Deleted, want.Missing, want.Files = fetched, 0, 0, 0, h.many
	if did != want {
		return 0, fmt.Errorf("the harvest did %+v instead of %+v", did, want)
	}
	return took, nil
}

// times lets harvest and curl ask in turn, and returns the median of each one's times, in ms.
func (h *harvests) times(ctx context.Context) (ours, theirs float64, err error) {
	var open closers
	defer open.close(&err)
	s, err := h.run(ctx, &open)
	if err != nil {
		return 0, 0, err
	}
	text, err := os.ReadFile(filepath.Join(h.mirror, "state.json"))
	if err != nil {
		return 0, 0, err
	}
	var kept struct{ Next string }
	if err := json.Unmarshal(text, &kept); err != nil {
		return 0, 0, err
	}
	var all [2][]float64
	for range h.starts {
		took, err := h.once(ctx, s, 0)
		if err != nil {
			return 0, 0, err
		}
		all[0] = append(all[0], took)
		page, took, err := ran(exec.CommandContext(ctx, "curl", "-sS", "--fail", "-H", "Authorization: "+s.Key(), kept.Next))
		if err != nil {
			return 0, 0, err
		}
		if !bytes.Contains(page, []byte(`"end": true`)) {
			return 0, 0, fmt.Errorf("%s is not the end:\n%s", kept.Next, page)
		}
		all[1] = append(all[1], took)
	}
	return median(all[0]), median(all[1]), nil
}

// ran runs a program to its end, and returns what it has written and how many ms it took.
func ran(cmd *exec.Cmd) (output []byte, took float64, err error) {
	var told bytes.Buffer
	cmd.Stderr = &told
	begin := time.Now()
	output, err = cmd.Output()
	took = milliseconds(time.Since(begin))
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, told.Bytes())
	}
	return output, took, err
}
