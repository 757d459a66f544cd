package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// frozenFor is the time for which a node is frozen. It exceeds the lifetime of its leases.
const frozenFor = 9 * time.Second

// largeFolder is the number of files in a folder that is changed in two steps.
const largeFolder = 210

// frozen is a cluster whose nodes are frozen one at a time.
type frozen struct {
	*nodesUnderFire
	sent  chan struct{} // a worker has sent a request of several steps
	space string        // dataspace of all sets

	mu       sync.Mutex
	still    int                // the frozen node, or the last one
	stands   bool               // the node is frozen
	refusals map[string]refusal // by the id of the request
	answers  map[string]int     // by operation and answer
}

// refusal is an answer that reports that nothing was changed.
type refusal struct{ what, answer string }

// TestFrozenNodesApplyNoRefusedChange freezes one of three nodes at a time for longer than its
// leases last. Meanwhile clients request changes of the same files from two nodes. The log must not
// contain a change of a refused request. FROZEN_SECONDS is the duration of the test, and
// FROZEN_SEED is the seed for the requests.
func TestFrozenNodesApplyNoRefusedChange(t *testing.T) {
	t.Parallel()
	duration, clients := time.Duration(0), 5 // enough for one freeze
	if text := os.Getenv("FROZEN_SECONDS"); text != "" {
		n, err := strconv.Atoi(text)
		check(t, err)
		duration, clients = time.Duration(n)*time.Second, 12
	}
	seed := rand.Uint64N(1_000_000)
	if text := os.Getenv("FROZEN_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		check(t, err)
	}
	f := &frozen{nodesUnderFire: startCluster(t, 3), sent: make(chan struct{}), refusals: map[string]refusal{}, answers: map[string]int{}}
	var of struct{ DataspaceID string }
	check(t, f.at[0].Load().Get(t.Context(), "/sets/"+f.set, &of))
	f.space = of.DataspaceID
	f.large()
	var workers sync.WaitGroup
	for w := range clients {
		workers.Go(func() { f.work(w, rand.New(rand.NewPCG(seed, uint64(w)))) })
	}
	random, freezes := rand.New(rand.NewPCG(seed, 1000)), 0
	for end := time.Now().Add(duration); freezes == 0 || time.Now().Before(end); freezes++ {
		for range clients + random.IntN(20) {
			<-f.sent
		}
		f.freeze(random)
	}
	go func() { // lets the workers end
		for range f.sent {
		}
	}()
	f.over.Store(true)
	workers.Wait()
	close(f.sent)
	f.verify(t)
	t.Logf("seed %d, %d freezes, answers %v", seed, freezes, f.answers)
}

// freeze stops a node while it serves requests, for longer than its leases last.
func (f *frozen) freeze(random *rand.Rand) {
	node := random.IntN(len(f.at))
	process, err := os.FindProcess(f.at[node].Load().PID())
	check(f.t, err)
	between := f.between(node, random)
	check(f.t, process.Signal(syscall.SIGSTOP))
	f.mu.Lock()
	f.still, f.stands = node, true
	f.mu.Unlock()
	for frozen := time.After(frozenFor); ; {
		select {
		case <-f.sent:
			continue
		case <-frozen:
		}
		break
	}
	check(f.t, process.Signal(syscall.SIGCONT))
	f.mu.Lock()
	f.stands = false
	f.mu.Unlock()
	<-between
}

// between requests a change in two steps from a node, and a change of the same files from another
// node. It returns after the first step. The channel is closed after both answers.
func (f *frozen) between(node int, random *rand.Rand) <-chan struct{} {
	other := (node + 1) % len(f.at)
	done := make(chan struct{})
	of, err := f.prepare(fmt.Sprint("steps", random.Uint32()), 4)
	if err != nil {
		close(done)
		return done
	}
	newest := func() string {
		a, err := f.at[other].Load().Exchange(context.Background(), http.MethodGet, "/sets/"+of.id+"/resources?state=all&order=newest&limit=1", http.Header{}, nil)
		check(f.t, err)
		return string(a.Body)
	}
	before, folders := newest(), f.changes(of, random)[:5]
	changes := [2]change{folders[random.IntN(5)], folders[random.IntN(5)]}
	go func() {
		defer close(done)
		f.duel([2]int{node, other}, changes, func() {})
	}()
	for newest() == before {
		select {
		case <-done:
			return done
		default:
		}
	}
	return done
}

// change is a request for a change in several commits, or under a lease.
type change struct {
	what, method, path string
	body               any // sent as JSON, or a string; nil: no body
	header             http.Header
}

// target is the target of requests: a set with a folder of files, and its state.
type target struct {
	id, name string
	files    []string
	deleted  map[string]any // the request that restores the folder; nil: not deleted
	edit     string         // id of an edit, or ""
	upload   string         // URL of an upload in chunks
}

// changes returns the possible requests for a target.
func (f *frozen) changes(of target, random *rand.Rand) []change {
	at, other := "/sets/"+of.id, fmt.Sprintf("other%d", random.Uint32())
	chunk := http.Header{"Tus-Resumable": {"1.0.0"}, "Upload-Offset": {"0"}, "Content-Type": {"application/offset+octet-stream"}}
	switch {
	case of.deleted != nil:
		return []change{{"restore a folder", "POST", at + "/folder/restore", of.deleted, nil}, {"purge", "POST", "/admin/purge", map[string]any{"olderThan": "1h"}, nil}}
	case of.edit != "":
		return []change{{"undo an edit", "POST", "/edits/" + of.edit + "/undo", map[string]any{}, nil}}
	case of.upload != "":
		return []change{{"upload a chunk", "PATCH", of.upload, of.name, chunk}, {"end an upload", "DELETE", of.upload, nil, http.Header{"Tus-Resumable": {"1.0.0"}}}}
	}
	drive := "/dav/fire-space/" + of.name + "/"
	return []change{
		{"delete a folder", "POST", at + "/folder/delete", map[string]any{"path": "folder/"}, nil},
		{"move a folder", "POST", at + "/folder/move", map[string]any{"path": "folder/", "toPath": other + "/"}, nil},
		{"copy a folder", "POST", at + "/folder/copy", map[string]any{"path": "folder/", "toPath": other + "/"}, nil},
		{"delete a folder on the drive", "DELETE", drive + "folder/", nil, nil},
		{"move a folder on the drive", "MOVE", drive + "folder/", nil, http.Header{"Destination": {drive + other + "/"}}},
		{"delete many", "POST", at + "/many", map[string]any{"action": "delete", "ids": of.files}, nil},
		{"move many", "POST", at + "/many", map[string]any{"action": "move", "ids": of.files, "folder": other + "/"}, nil},
		{"edit many", "POST", at + "/metadata", map[string]any{"ids": of.files, "addTags": []string{"tag"}}, nil},
		{"delete a set", "DELETE", at, nil, nil},
	}
}

// work creates targets, and requests changes of each from two nodes, until over is set.
func (f *frozen) work(worker int, random *rand.Rand) {
	for n := 0; !f.over.Load(); n++ {
		of, err := f.prepare(fmt.Sprintf("set%dx%d", worker, n), random.IntN(12))
		if answer, is := errors.AsType[*StatusError](err); is && (answer.Code == "outcome_unknown" || answer.Code == "locked") {
			continue // the node was frozen
		}
		if err != nil {
			f.t.Errorf("prepare: %v", err)
			return
		}
		all := f.changes(of, random)
		nodes := f.pick(random)
		f.duel([2]int{nodes[0], nodes[1]}, [2]change{all[random.IntN(len(all))], all[random.IntN(len(all))]}, func() { f.sent <- struct{}{} })
	}
}

// duel requests a change from each of two nodes, and calls sent in between. It repeats the second
// request while it is refused and the first one is unanswered.
func (f *frozen) duel(nodes [2]int, changes [2]change, sent func()) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		f.ask(nodes[0], changes[0])
	}()
	sent()
	for again := true; again && refused(f.ask(nodes[1], changes[1])); {
		select {
		case <-answered:
			again = false
		case <-time.After(200 * time.Millisecond):
		}
	}
	<-answered
}

// fill creates the folder of a target, with five files, or with files for more than one step.
func (f *frozen) fill(c *Service, of target, large bool) (files []string, err error) {
	ctx := context.Background()
	if large {
		err := c.Call(ctx, http.MethodPost, "/sets/"+f.set+"/folder/copy", map[string]any{"path": "large/", "setId": of.id, "toPath": "folder/"}, nil)
		if err != nil {
			return nil, err
		}
		var page Page
		err = c.Get(ctx, "/sets/"+of.id+"/resources?limit=1000", &page)
		for _, r := range page.Data {
			files = append(files, r.ID)
		}
		return files, err
	}
	for n := range 5 {
		r, err := f.file(c, of.id, fmt.Sprintf("folder/%d", n))
		if err != nil {
			return nil, err
		}
		files = append(files, r.ID)
	}
	return files, nil
}

// file uploads a small file.
func (f *frozen) file(c *Service, set, name string) (Resource, error) {
	return c.Upload(context.Background(), http.MethodPost, "/resources",
		File{SetID: set, Name: name, Filename: "f", Body: strings.NewReader(name), Size: int64(len(name))})
}

// large creates the folder from which large targets are copied.
func (f *frozen) large() {
	var sending sync.WaitGroup
	for w := range 8 {
		sending.Go(func() {
			for n := w; n < largeFolder; n += 8 {
				if _, err := f.file(f.at[n%len(f.at)].Load(), f.set, fmt.Sprintf("large/%03d", n)); err != nil {
					f.t.Error(err)
				}
			}
		})
	}
	sending.Wait()
}

// pick returns the nodes that are not frozen, in random order.
func (f *frozen) pick(random *rand.Rand) []int {
	nodes := random.Perm(len(f.at))
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(nodes, func(n int) bool { return f.stands && n == f.still })
}

// prepare creates a target through a node that is not frozen, and may change it once.
func (f *frozen) prepare(name string, do int) (of target, err error) {
	ctx := context.Background()
	f.mu.Lock()
	node := (f.still + 1) % len(f.at)
	f.mu.Unlock()
	c := f.at[node].Load()
	of = target{name: name}
	if of.id, err = c.Make(ctx, "/sets", map[string]string{"name": name, "dataspaceId": f.space}); err != nil {
		return of, err
	}
	if of.files, err = f.fill(c, of, do%4 == 0); err != nil {
		return of, err
	}
	switch do {
	case 0:
		err = f.ask(node, change{"delete a folder", "POST", "/sets/" + of.id + "/folder/delete", map[string]any{"path": "folder/"}, nil}).Decode(&of.deleted)
		of.deleted = map[string]any{"path": "folder/", "deletion": of.deleted["deletion"]}
	case 1:
		var made struct{ Edit struct{ ID string } }
		err = f.ask(node, change{"edit many", "POST", "/sets/" + of.id + "/metadata", map[string]any{"ids": of.files, "addTags": []string{"tag"}}, nil}).Decode(&made)
		of.edit = made.Edit.ID
	case 2:
		text := base64.StdEncoding.EncodeToString
		header := http.Header{"Tus-Resumable": {"1.0.0"}, "Upload-Length": {strconv.Itoa(len(name))},
			"Upload-Metadata": {"setId " + text([]byte(of.id)) + ",filename " + text([]byte("chunk"))}}
		var a Answer
		a, err = c.Exchange(ctx, http.MethodPost, "/uploads", header, nil)
		if of.upload = a.Header.Get("Location"); err == nil && of.upload == "" {
			err = a.Problem()
		}
	}
	return of, err
}

// refused reports whether a refused request may succeed later.
func refused(a Answer) bool {
	return a.Status == http.StatusConflict || a.Status == http.StatusLocked || a.Status == http.StatusServiceUnavailable
}

// ask sends a request to a node, and records the answer.
func (f *frozen) ask(node int, c change) Answer {
	at := f.at[node].Load()
	header, body := http.Header{"Content-Type": {"application/json"}}, &bytes.Buffer{}
	if text, is := c.body.(string); is {
		body.WriteString(text)
	} else if c.body != nil {
		check(f.t, json.NewEncoder(body).Encode(c.body))
	}
	for name, values := range c.header {
		header[name] = slices.Clone(values)
	}
	host := strings.TrimSuffix(at.Base(), "/v1")
	path := c.path
	if strings.HasPrefix(path, "/dav/") {
		path = host + path
		if to := header.Get("Destination"); to != "" {
			header.Set("Destination", host+to)
		}
	}
	a, err := at.Exchange(context.Background(), c.method, path, header, body)
	if err != nil {
		f.t.Errorf("%s: %v", c.what, err)
		return a
	}
	problem := a.Problem()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[strings.TrimSpace(fmt.Sprint(c.what, ": ", a.Status, " ", problem.Code))]++
	if a.Status >= 400 && problem.Code != "outcome_unknown" {
		f.refusals[a.Header.Get("X-Request-Id")] = refusal{c.what, fmt.Sprint(a.Status, " ", string(a.Body))}
	}
	return a
}

// verify checks in the audit log that no refused request has changed anything.
func (f *frozen) verify(t *testing.T) {
	entries := 0
	for url := "/audit?order=oldest&limit=1000"; url != ""; {
		var page struct {
			Data     []struct{ Action, RequestID string }
			NextPage string
			End      bool
		}
		check(t, f.at[0].Load().Get(t.Context(), url, &page))
		for _, e := range page.Data {
			entries++
			if r, refused := f.refusals[e.RequestID]; refused {
				t.Errorf("%s was refused with %s, but the log has its %s", r.what, r.answer, e.Action)
			}
		}
		if url = page.NextPage; page.End {
			break
		}
	}
	if entries == 0 || len(f.refusals) == 0 {
		t.Errorf("%d entries and %d refusals: the test has no meaning", entries, len(f.refusals))
	}
	t.Logf("%d entries, %d refusals", entries, len(f.refusals))
}
