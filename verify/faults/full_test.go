package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"

	"labshelf/verify/e2e"
	"labshelf/verify/faults/passfs"
	"labshelf/verify/faults/script"
)

// shortage is a resource of the system that is exhausted for a while.
type shortage struct {
	name   string
	mount  func(ctx context.Context, t *trial, at string) (unmount func() error, err error) // nil: use the disk as it is
	begin  func(ctx context.Context, t *trial, u *tenant) (end func() error, err error)
	status int      // expected status of refused changes
	codes  []string // expected error codes of refused changes
	bodies bool     // whether files can be read during the shortage; records always can
	flags  []string // flags of the service
}

func shortages() []shortage {
	ro := &atomic.Bool{}
	return []shortage{
		{
			name: "a full disk", mount: tmpfs("size=24m"), begin: fillUp("filler", 6<<20),
			status: http.StatusInsufficientStorage, codes: []string{"no_space"}, bodies: true,
		},
		{
			name: "no inodes", mount: tmpfs("nr_inodes=360"), begin: fillUp("filler", 0),
			status: http.StatusInsufficientStorage, codes: []string{"no_space"}, bodies: true,
			flags: []string{"--hold-up-to=0"}, // inline bodies use no inodes
		},
		{
			name: "a read-only file system", mount: readOnlyWhile(ro),
			begin: func(context.Context, *trial, *tenant) (func() error, error) {
				ro.Store(true)
				return func() error { ro.Store(false); return nil }, nil
			},
			status: http.StatusServiceUnavailable, codes: []string{"unavailable"}, bodies: true,
		},
		{
			name: "no descriptors", begin: fewDescriptors,
			status: http.StatusServiceUnavailable, codes: []string{"unavailable"},
		},
	}
}

// full makes the real program run out of space, inodes, or descriptors, or makes its disk
// read-only. During the shortage, changes are refused and reads succeed. When the shortage ends,
// everything works without a restart.
func full(ctx context.Context, t *trial) error {
	if _, err := t.build(ctx); err != nil {
		return err
	}
	t.add("reads meanwhile", 0)
	t.add("changes refused", 0)
	t.add("changes without an answer", 0)
	t.add("violations", 0)
	all := shortages()
	for unit := range t.units(ctx, t.size) {
		s := all[unit%len(all)]
		if err := s.run(ctx, t, unit); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// tenant is a client of the service that records acknowledged changes.
type tenant struct {
	*e2e.Client
	data, set string
	pid       int
	random    *rand.Rand
	known     map[string]known // by id
	ids       []string         // in order of creation
}

// known is the acknowledged state of a resource.
type known struct{ sha256, description, url string }

func (s shortage) run(ctx context.Context, t *trial, unit int) (err error) {
	w := &workload{program: t.program, data: filepath.Join(t.dir, fmt.Sprint("data-", unit)), flags: s.flags}
	if err := os.Mkdir(w.data, 0o700); err != nil {
		return err
	}
	if s.mount != nil {
		unmount, err := s.mount(ctx, t, w.data)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unmount()) }()
	}
	if _, err := w.start(ctx); err != nil {
		return err
	}
	defer w.service.Kill()
	u := &tenant{Client: w.client, data: w.data, pid: w.service.PID(), random: t.random(unit), known: map[string]known{}}
	if err := u.setUp(ctx); err != nil {
		return err
	}
	if err := s.while(ctx, t, u); err != nil {
		return err
	}
	if err := errors.Join(u.readAll(ctx, t, true), w.stop()); err != nil {
		return err
	}
	left, err := script.Leftovers(w.data)
	if err == nil && len(left) > 0 {
		err = violated(nil, "temporary files remain: %v", left)
	}
	return errors.Join(err, clean(ctx, t.program, w.data))
}

// while runs changes and reads during the shortage, ends it, and checks that changes work again.
func (s shortage) while(ctx context.Context, t *trial, u *tenant) error {
	end, err := s.begin(ctx, t, u)
	if err != nil {
		return err
	}
	refused := 0
	for range 40 {
		no, err := s.change(ctx, t, u)
		if err != nil {
			return errors.Join(err, end())
		}
		refused += no
		if err := u.readOne(ctx, t, s.bodies); err != nil {
			return errors.Join(err, end())
		}
	}
	t.add("changes refused", int64(refused))
	err = u.readAll(ctx, t, s.bodies)
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	if refused == 0 {
		return errors.New("no change was refused: the shortage had no effect")
	}
	for range 5 {
		no, err := s.change(ctx, t, u)
		if err == nil && no > 0 {
			err = violated(nil, "the shortage has ended, but changes are still refused")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setUp creates a dataspace, a set and some files.
func (u *tenant) setUp(ctx context.Context) error {
	var err error
	if _, u.set, err = u.MakeSet(ctx, "set"); err != nil {
		return err
	}
	for range 8 {
		if a, err := u.create(ctx, 1+u.random.IntN(100_000)); err != nil || a.Status != http.StatusCreated {
			return errors.Join(err, a.Problem())
		}
	}
	return nil
}

// create uploads a new resource with size bytes.
func (u *tenant) create(ctx context.Context, size int) (e2e.Answer, error) {
	body := content(u.random.Uint64(), size)
	fields := map[string]string{"setId": u.set, "name": strconv.Itoa(u.random.Int())}
	a, err := upload(ctx, u.Client, http.MethodPost, "/resources", fields, body)
	if err == nil && a.Status == http.StatusCreated {
		err = u.acknowledged(a, digestOf(body))
	}
	return a, err
}

// acknowledged records the answer, which must have the given digest.
func (u *tenant) acknowledged(a e2e.Answer, sha256 string) error {
	var r record
	if err := a.Decode(&r); err != nil {
		return err
	}
	if r.SHA256 != sha256 {
		return violated(nil, "the answer for %s has the digest %s, want %s", r.ID, r.SHA256, sha256)
	}
	if _, known := u.known[r.ID]; !known {
		u.ids = append(u.ids, r.ID)
	}
	u.known[r.ID] = known{sha256, r.Description, r.DataURL}
	return nil
}

// change makes one change, which must succeed or be refused correctly. A service that refuses
// before it has read the whole file may close the connection while the client still sends, so the
// client receives no answer. In this case, change reads the result.
func (s shortage) change(ctx context.Context, t *trial, u *tenant) (refused int, err error) {
	id := u.ids[u.random.IntN(len(u.ids))]
	want := u.known[id]
	var a e2e.Answer
	switch u.random.IntN(3) {
	case 0:
		id, want.sha256 = "", ""
		a, err = u.create(ctx, 1+u.random.IntN(1_000_000))
	case 1:
		body := content(u.random.Uint64(), 1+u.random.IntN(1_000_000))
		want.sha256, want.description = digestOf(body), "" // a replacement without a description removes it
		a, err = upload(ctx, u.Client, http.MethodPut, "/resources/"+id, nil, body)
	default:
		want.description = strconv.Itoa(u.random.Int())
		a, err = u.SendJSON(ctx, http.MethodPatch, "/resources/"+id, map[string]string{"description": want.description})
	}
	switch {
	case cutOff(err):
		t.add("changes without an answer", 1)
		return 0, u.lookUp(ctx, id, want)
	case err != nil:
		return 0, err
	case a.Status/100 == 2 && id != "":
		return 0, u.acknowledged(a, want.sha256)
	case a.Status/100 == 2:
		return 0, nil
	case a.Status == s.status && slices.Contains(s.codes, a.Problem().Code):
		return 1, nil
	}
	return 0, violated(nil, "a change is refused with the wrong answer: %w", a.Problem())
}

// cutOff reports whether the connection ended during a request.
func cutOff(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)
}

// lookUp determines whether a change without an answer was made. The resource must have its old
// state, or the complete new state.
func (u *tenant) lookUp(ctx context.Context, id string, want known) error {
	if id == "" {
		return nil // the new resource was not acknowledged
	}
	var r record
	if err := u.Get(ctx, "/resources/"+id, &r); err != nil {
		return violated(nil, "a readable record cannot be read: %w", err)
	}
	if r.SHA256 == want.sha256 && r.Description == want.description {
		u.known[id] = known{r.SHA256, r.Description, r.DataURL}
	}
	return nil
}

// readOne reads a random record, and its file if bodies is true.
func (u *tenant) readOne(ctx context.Context, t *trial, bodies bool) error {
	return u.read(ctx, t, u.ids[u.random.IntN(len(u.ids))], bodies)
}

// readAll reads all acknowledged resources.
func (u *tenant) readAll(ctx context.Context, t *trial, bodies bool) error {
	for _, id := range u.ids {
		if err := u.read(ctx, t, id, bodies); err != nil {
			return err
		}
	}
	return nil
}

func (u *tenant) read(ctx context.Context, t *trial, id string, bodies bool) error {
	want := u.known[id]
	var r record
	if err := u.Get(ctx, "/resources/"+id, &r); err != nil {
		return violated(nil, "a readable record cannot be read: %w", err)
	}
	t.add("reads meanwhile", 1)
	if r.SHA256 != want.sha256 || r.Description != want.description {
		return violated(nil, "%s is %+v, but %+v was acknowledged", id, r, want)
	}
	if !bodies {
		return nil
	}
	a, err := u.SendJSON(ctx, http.MethodGet, want.url, nil)
	if err != nil || a.Status != http.StatusOK || digestOf(a.Body) != want.sha256 {
		return violated(nil, "the file of %s: %w, %v, %d bytes with the digest %s, want %s", id, err, a.Problem(), len(a.Body), digestOf(a.Body), want.sha256)
	}
	t.add("reads meanwhile", 1)
	return nil
}

// tmpfs mounts a file system in memory.
func tmpfs(options string) func(context.Context, *trial, string) (func() error, error) {
	return func(ctx context.Context, _ *trial, at string) (func() error, error) {
		if err := execute(ctx, "mount", "-t", "tmpfs", "-o", "mode=700,"+options, "tmpfs", at); err != nil {
			return nil, err
		}
		return func() error { return execute(context.WithoutCancel(ctx), "umount", at) }, nil
	}
}

func execute(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", name, args, err, out)
	}
	return nil
}

// fillUp creates files through the service until the disk is full. Before that, it creates foreign
// files of size bytes in total, which are empty if size is 0. They are removed at the end.
func fillUp(name string, size int) func(context.Context, *trial, *tenant) (func() error, error) {
	return func(ctx context.Context, _ *trial, u *tenant) (end func() error, err error) {
		folder := filepath.Join(u.data, name)
		err = os.Mkdir(folder, 0o700)
		for n := range 40 {
			err = errors.Join(err, os.WriteFile(filepath.Join(folder, strconv.Itoa(n)), make([]byte, size/40), 0o600))
		}
		for full := false; err == nil && !full; {
			var a e2e.Answer
			a, err = u.create(ctx, 1+u.random.IntN(2*size/10+1000))
			full = a.Status == http.StatusInsufficientStorage
			if err == nil && !full && a.Status != http.StatusCreated {
				err = a.Problem()
			}
		}
		return func() error { return os.RemoveAll(folder) }, err
	}
}

// readOnlyWhile mounts a file system that refuses all calls except reads and syncs while ro is set.
func readOnlyWhile(ro *atomic.Bool) func(context.Context, *trial, string) (func() error, error) {
	return func(_ context.Context, t *trial, at string) (func() error, error) {
		below := at + ".below"
		if err := os.Mkdir(below, 0o700); err != nil {
			return nil, err
		}
		fs, err := passfs.Mount(below, at, func(c *passfs.Call, do func() syscall.Errno) syscall.Errno {
			if ro.Load() && c.Kind != passfs.Sync && c.Kind != passfs.SyncDir {
				return syscall.EROFS
			}
			return do()
		})
		return fs.Unmount, err
	}
}
