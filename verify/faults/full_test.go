package faults

import (
	"context"
	"encoding/json"
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

	"labshelf/verify/faults/passfs"
	"labshelf/verify/faults/script"
)

// shortage is one way in which the real program can run out of something, for a while.
type shortage struct {
	name   string
	mount  func(ctx context.Context, t *trial, at string) (unmount func() error, err error) // nil: on the disk as it is
	begin  func(ctx context.Context, t *trial, u *user) (end func() error, err error)
	status int      // with which changes are refused
	codes  []string // with which, then
	bodies bool     // files can be read meanwhile; records always can
	flags  []string // of the service
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
			flags: []string{"--hold-up-to=0"}, // what is held takes none
		},
		{
			name: "a read-only file system", mount: readOnlyWhile(ro),
			begin: func(context.Context, *trial, *user) (func() error, error) {
				ro.Store(true)
				return func() error { ro.Store(false); return nil }, nil
			},
			status: http.StatusServiceUnavailable, codes: []string{"unavailable"}, bodies: true,
		},
		{
			name: "no descriptors", begin: fewFiles,
			status: http.StatusServiceUnavailable, codes: []string{"unavailable"},
		},
	}
}

// full lets the real program run out of space, of inodes, of a disk that can be written, of descriptors. Meanwhile changes are
// refused, and what can be read is read; as soon as there is enough again everything works, without a restart.
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

// user is one who uses the service: he knows what it has acknowledged.
type user struct {
	*caller
	data, set string
	pid       int
	random    *rand.Rand
	kept      map[string]kept // by id
	ids       []string        // in order of creation
}

// kept is what the service has acknowledged of a resource.
type kept struct{ sha256, description, url string }

func (s shortage) run(ctx context.Context, t *trial, unit int) (err error) {
	w := &world{program: t.program, data: filepath.Join(t.dir, fmt.Sprint("data-", unit)), flags: s.flags}
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
	u := &user{caller: w.caller, data: w.data, pid: w.service.PID(), random: t.random(unit), kept: map[string]kept{}}
	if err := u.settle(ctx); err != nil {
		return err
	}
	if err := s.while(ctx, t, u); err != nil {
		return err
	}
	if err := errors.Join(u.everything(ctx, t, true), w.stop()); err != nil {
		return err
	}
	left, err := script.Leftovers(w.data)
	if err == nil && len(left) > 0 {
		err = violated(nil, "left behind: %v", left)
	}
	return errors.Join(err, clean(ctx, t.program, w.data))
}

// while begins the shortage, tries everything during it, ends it and sees that all works again.
func (s shortage) while(ctx context.Context, t *trial, u *user) error {
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
		if err := u.something(ctx, t, s.bodies); err != nil {
			return errors.Join(err, end())
		}
	}
	t.add("changes refused", int64(refused))
	err = u.everything(ctx, t, s.bodies)
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	if refused == 0 {
		return errors.New("nothing was refused: the shortage was none")
	}
	for range 5 {
		no, err := s.change(ctx, t, u)
		if err == nil && no > 0 {
			err = violated(nil, "it is over, and changes are still refused")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle makes a dataspace, a set and a few files.
func (u *user) settle(ctx context.Context) error {
	var space, set record
	if err := u.want(ctx, http.MethodPost, "/dataspaces", map[string]string{"name": "space"}, &space); err != nil {
		return err
	}
	if err := u.want(ctx, http.MethodPost, "/sets", map[string]string{"name": "set", "dataspaceId": space.ID}, &set); err != nil {
		return err
	}
	u.set = set.ID
	for range 8 {
		if a, err := u.create(ctx, 1+u.random.IntN(100_000)); err != nil || a.status != http.StatusCreated {
			return errors.Join(err, a.refusal())
		}
	}
	return nil
}

// create uploads a new body.
func (u *user) create(ctx context.Context, size int) (answer, error) {
	body := content(u.random.Uint64(), size)
	fields := map[string]string{"setId": u.set, "name": strconv.Itoa(u.random.Int())}
	a, err := u.upload(ctx, http.MethodPost, "/resources", fields, body)
	if err == nil && a.status == http.StatusCreated {
		err = u.acknowledged(a, digestOf(body))
	}
	return a, err
}

// acknowledged notes what an answer says, which must fit.
func (u *user) acknowledged(a answer, sha256 string) error {
	r, err := a.record()
	if err != nil {
		return err
	}
	if r.SHA256 != sha256 {
		return violated(nil, "it says that %s has the digest %s, not %s", r.ID, r.SHA256, sha256)
	}
	if _, known := u.kept[r.ID]; !known {
		u.ids = append(u.ids, r.ID)
	}
	u.kept[r.ID] = kept{sha256, r.Description, r.DataURL}
	return nil
}

// change tries one change, which succeeds or is refused as it must be. A service that refuses before it has read the whole file
// may close the connection while the client still sends, and the client then sees no answer: what it left is looked up.
func (s shortage) change(ctx context.Context, t *trial, u *user) (refused int, err error) {
	id := u.ids[u.random.IntN(len(u.ids))]
	want := u.kept[id]
	var a answer
	switch u.random.IntN(3) {
	case 0:
		id, want.sha256 = "", ""
		a, err = u.create(ctx, 1+u.random.IntN(1_000_000))
	case 1:
		body := content(u.random.Uint64(), 1+u.random.IntN(1_000_000))
		want.sha256, want.description = digestOf(body), "" // a replacement without a description has none
		a, err = u.upload(ctx, http.MethodPut, "/resources/"+id, nil, body)
	default:
		want.description = strconv.Itoa(u.random.Int())
		a, err = u.call(ctx, http.MethodPatch, "/resources/"+id, map[string]string{"description": want.description})
	}
	switch {
	case cutOff(err):
		t.add("changes without an answer", 1)
		return 0, u.lookUp(ctx, id, want)
	case err != nil:
		return 0, err
	case a.status/100 == 2 && id != "":
		return 0, u.acknowledged(a, want.sha256)
	case a.status/100 == 2:
		return 0, nil
	case a.status == s.status && slices.Contains(s.codes, a.problem().Code):
		return 1, nil
	}
	return 0, violated(nil, "a change is refused with the wrong answer: %w", a.refusal())
}

// cutOff tells whether the connection ended in the middle of a request.
func cutOff(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF)
}

// lookUp finds out whether a change without an answer was made: the resource is as it was, or all that the change wanted.
func (u *user) lookUp(ctx context.Context, id string, want kept) error {
	if id == "" {
		return nil // of a resource that nobody was told of
	}
	var r record
	if err := u.get(ctx, "/resources/"+id, &r); err != nil {
		return violated(nil, "what can be read is not: %w", err)
	}
	if r.SHA256 == want.sha256 && r.Description == want.description {
		u.kept[id] = kept{r.SHA256, r.Description, r.DataURL}
	}
	return nil
}

// something reads one record, and its file where that can be read.
func (u *user) something(ctx context.Context, t *trial, bodies bool) error {
	return u.read(ctx, t, u.ids[u.random.IntN(len(u.ids))], bodies)
}

// everything reads all that was acknowledged.
func (u *user) everything(ctx context.Context, t *trial, bodies bool) error {
	for _, id := range u.ids {
		if err := u.read(ctx, t, id, bodies); err != nil {
			return err
		}
	}
	return nil
}

func (u *user) read(ctx context.Context, t *trial, id string, bodies bool) error {
	want := u.kept[id]
	var r record
	if err := u.get(ctx, "/resources/"+id, &r); err != nil {
		return violated(nil, "what can be read is not: %w", err)
	}
	t.add("reads meanwhile", 1)
	if r.SHA256 != want.sha256 || r.Description != want.description {
		return violated(nil, "%s is %+v, and not what was acknowledged, %+v", id, r, want)
	}
	if !bodies {
		return nil
	}
	a, err := u.call(ctx, http.MethodGet, want.url, nil)
	if err != nil || a.status != http.StatusOK || digestOf(a.body) != want.sha256 {
		return violated(nil, "the file of %s: %w, %v, %d bytes with %s, not %s", id, err, a.refusal(), len(a.body), digestOf(a.body), want.sha256)
	}
	t.add("reads meanwhile", 1)
	return nil
}

// record reads the object that an answer holds.
func (a answer) record() (r record, err error) { return r, json.Unmarshal(a.body, &r) }

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

// fillUp has the user create files until there is no room, beside a file, of a size, or so many empty files, that others have
// put there: these go at the end.
func fillUp(name string, size int) func(context.Context, *trial, *user) (func() error, error) {
	return func(ctx context.Context, _ *trial, u *user) (end func() error, err error) {
		folder := filepath.Join(u.data, name)
		err = os.Mkdir(folder, 0o700)
		for n := range 40 {
			err = errors.Join(err, os.WriteFile(filepath.Join(folder, strconv.Itoa(n)), make([]byte, size/40), 0o600))
		}
		for full := false; err == nil && !full; {
			var a answer
			a, err = u.create(ctx, 1+u.random.IntN(2*size/10+1000))
			full = a.status == http.StatusInsufficientStorage
			if err == nil && !full && a.status != http.StatusCreated {
				err = a.refusal()
			}
		}
		return func() error { return os.RemoveAll(folder) }, err
	}
}

// readOnlyWhile mounts a file system on which everything but reading and syncing fails while ro is set.
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
