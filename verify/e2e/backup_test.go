package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestBackupUnderLoad creates backups over the HTTP API while eight users write, and restores the
// last one. It must contain all changes acknowledged before the backup began.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data, dest, restored := filepath.Join(folder, "data"), filepath.Join(folder, "backup"), filepath.Join(folder, "restored")
	service := serve(t, data)
	l := startLoad(t, service)
	keyFile := filepath.Join(data, KeyFile)
	var acknowledged map[string][]Resource
	for range 3 {
		acknowledged = l.more(100)
		run(t, "backup", "create", dest, "--server", service.Base(), "--key-file", keyFile)
	}
	l.stop()
	afterwards := l.soFar()
	if len(afterwards) <= len(acknowledged) {
		t.Fatalf("there were %d resources before the last backup, but no new ones afterwards", len(acknowledged))
	}
	run(t, "check", "--server", service.Base(), "--key-file", keyFile)
	run(t, "backup", "verify", dest, "--temp", folder)
	run(t, "backup", "restore", dest, "--data", restored)
	run(t, "check", "--data", restored)

	// Backups do not contain the key of the first start, but the user still has it.
	key, err := os.ReadFile(keyFile)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(restored, KeyFile), key, 0o600))
	again := serve(t, restored)
	for id, before := range acknowledged {
		var got Resource
		check(t, again.Call(t.Context(), http.MethodGet, "/resources/"+id, nil, &got))
		// The last state that was acknowledged before the backup began, or a later one.
		if !slices.ContainsFunc(afterwards[id][len(before)-1:], func(r Resource) bool { return factOf(r) == factOf(got) }) {
			t.Errorf("of the states %+v, none from the %dth on was restored, but %+v", afterwards[id], len(before), got)
		}
		if got.State != "active" {
			continue
		}
		hash := sha256.New()
		check(t, again.Download(t.Context(), got.DataURL, hash))
		if sum := hex.EncodeToString(hash.Sum(nil)); sum != got.SHA256 {
			t.Errorf("the file of %s has the digest %s", got.ID, sum)
		}
	}
	t.Logf("%d changes were acknowledged before the last backup, %d in total", len(acknowledged), len(afterwards))
}

// TestTornCopy copies a data directory with other tools during writes. The copied metadata are
// inconsistent, and check must report this.
func TestTornCopy(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data, copied := filepath.Join(folder, "data"), filepath.Join(folder, "copy")
	service := serve(t, data)
	l := startLoad(t, service)
	l.more(100)
	first, err := os.ReadFile(filepath.Join(data, "meta.db"))
	check(t, err)
	l.more(100)
	second, err := os.ReadFile(filepath.Join(data, "meta.db"))
	check(t, err)
	l.stop()
	torn := slices.Clone(second)
	for at := 0; at < len(first); at += 8192 { // every other page is older
		copy(torn[at:min(at+4096, len(first))], first[at:])
	}
	for err = fs.ErrNotExist; errors.Is(err, fs.ErrNotExist); { // inline bodies may disappear when they are flushed
		err = errors.Join(os.RemoveAll(copied), os.CopyFS(copied, os.DirFS(data)))
	}
	check(t, err)
	check(t, os.WriteFile(filepath.Join(copied, "meta.db"), torn, 0o600))
	out, code := tryRun(t, "check", "--data", copied, "--no-data")
	if code != 5 || !strings.Contains(out, "metadata") || !strings.Contains(out, "restore a backup") && !strings.Contains(out, "from a backup") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// load is eight users who create, replace and delete resources.
type load struct {
	service *Service
	set     string
	end     context.CancelFunc
	users   sync.WaitGroup

	mu    sync.Mutex
	grown sync.Cond             // of mu: known or err has changed
	known map[string][]Resource // by id, each state in the order of acknowledgement
	err   error
	t     *testing.T
}

func startLoad(t *testing.T, service *Service) *load {
	t.Helper()
	_, set, err := service.MakeSet(t.Context(), "load")
	check(t, err)
	ctx, end := context.WithCancel(t.Context())
	l := &load{service: service, set: set, end: end, known: map[string][]Resource{}, t: t}
	l.grown.L = &l.mu
	for user := range 8 {
		l.users.Go(func() {
			if err := l.work(ctx, rand.New(rand.NewPCG(uint64(user), 7))); err != nil {
				l.mu.Lock()
				l.err = err
				l.mu.Unlock()
				l.grown.Broadcast()
			}
		})
	}
	return l
}

// work makes changes until the end of ctx. It waits for the answer to the last change.
func (l *load) work(ctx context.Context, random *rand.Rand) error {
	var mine []string
	for n := 0; ctx.Err() == nil; n++ {
		body := bytes.Repeat([]byte{byte(random.Uint32())}, 1+random.IntN(20<<10))
		file := File{SetID: l.set, Filename: fmt.Sprintf("%d.bin", n), Body: bytes.NewReader(body), Size: int64(len(body))}
		method, url := http.MethodPost, "/resources"
		if n%3 == 2 {
			method, url, file.SetID = http.MethodPut, "/resources/"+mine[random.IntN(len(mine))], ""
		}
		made, err := l.service.Upload(context.WithoutCancel(ctx), method, url, file)
		if err != nil {
			return err
		}
		l.acknowledge(made)
		if method == http.MethodPost {
			mine = append(mine, made.ID)
		}
		if n%10 == 9 {
			made.State = "deleted"
			if err := l.service.Call(context.WithoutCancel(ctx), http.MethodDelete, "/resources/"+made.ID, nil, nil); err != nil {
				return err
			}
			l.acknowledge(made)
			mine = slices.DeleteFunc(mine, func(id string) bool { return id == made.ID })
		}
	}
	return nil
}

func (l *load) acknowledge(r Resource) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[r.ID] = append(l.known[r.ID], r)
	l.grown.Broadcast()
}

// soFar returns what has been acknowledged.
func (l *load) soFar() map[string][]Resource {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.known) // the lists only grow
}

// more waits for the given number of further acknowledged changes, and returns all acknowledged
// changes.
func (l *load) more(changes int) map[string][]Resource {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	acknowledged := func() (n int) {
		for _, states := range l.known {
			n += len(states)
		}
		return n
	}
	for want := acknowledged() + changes; l.err == nil && acknowledged() < want; {
		l.grown.Wait()
	}
	check(l.t, l.err)
	return maps.Clone(l.known) // the lists only grow
}

func (l *load) stop() {
	l.t.Helper()
	l.end()
	l.users.Wait()
	check(l.t, l.err)
}

// run runs a command of the program, which must succeed, and returns its output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	out, code := tryRun(t, args...)
	if code != 0 {
		t.Fatalf("labshelf %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// tryRun runs a command of the program and returns its output and its exit code.
func tryRun(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	path, err := program()
	check(t, err)
	o, err := Run(t.Context(), path, args...)
	check(t, err)
	return o.Stdout + o.Stderr, o.Code
}
