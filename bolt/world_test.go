package bolt

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// world is a repository on a real file, with concurrent writers and readers. The bodies of files
// are only in memory, because the tests concern the metadata.
type world struct {
	t       *testing.T
	path    string
	bodies  blobs.Store
	prepare func(*committer) // called with each committer before the repository starts; may be nil

	opened sync.RWMutex // locked for writing while the repository is closed and reopened
	store  *Store
	svc    *repository.Service

	mu      sync.Mutex
	steps   int           // number of changes so far
	stepped chan struct{} // closed at every tenth change

	admin, member auth.Principal
	spaces        []metadata.Dataspace
	sets          []metadata.Set
}

func newWorld(t *testing.T, prepare func(*committer)) *world {
	w := &world{t: t, path: filepath.Join(t.TempDir(), "meta.db"), bodies: blobstest.NewMemory(), prepare: prepare, stepped: make(chan struct{})}
	w.open()
	t.Cleanup(w.close)
	w.populate()
	return w
}

func (w *world) open() {
	store, err := Open(w.path, Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.prepare != nil {
		w.prepare(store.committer)
	}
	w.store = store
	w.svc = repository.New(repositorytest.Audited{Store: store, Fail: w.t.Errorf}, w.bodies, repository.Config{PageSize: 100, DirectoryPageSize: 1000, HoldUpTo: 100})
}

// shut closes the repository without checking its content.
func (w *world) shut() {
	w.svc.Close()
	check(w.store.Close())
}

func (w *world) close() {
	w.svc.Close()
	report := maintenance.CheckEvents{Violation: func(v metadata.Violation) { w.t.Errorf("violation: %v", v) }}
	if _, err := maintenance.NewUpkeep(w.store, w.bodies).Check(context.Background(), maintenance.CheckOptions{}, report); err != nil {
		w.t.Error(err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

// restart waits for current operations, closes the repository, and opens it again.
func (w *world) restart() {
	w.opened.Lock()
	defer w.opened.Unlock()
	w.close()
	w.open()
}

// with runs fn while the repository is open.
func (w *world) with(fn func(ctx context.Context, svc *repository.Service)) {
	w.opened.RLock()
	defer w.opened.RUnlock()
	fn(context.Background(), w.svc)
}

// populate creates the admin, a member of two of three dataspaces, and two sets in each.
func (w *world) populate() {
	ctx := context.Background()
	key := must(w.svc.Users.Bootstrap(ctx, ""))
	w.admin = must(w.svc.Credentials.Authenticate(ctx, key, auth.Origin{}))
	user := must(w.svc.Users.Create(ctx, w.admin, containers.NewUser{Username: "member"}))
	w.member = auth.Principal{UserID: user.ID, Username: user.Username}
	for i := range 3 {
		d := must(w.svc.Dataspaces.Create(ctx, w.admin, containers.NewDataspace{Name: fmt.Sprint("space-", i)}))
		w.spaces = append(w.spaces, d)
		if i < 2 {
			_, _, err := w.svc.Users.Grant(ctx, w.admin, containers.NewPrivilege{UserID: user.ID.String(), DataspaceID: d.ID.String(), Role: auth.Member})
			check(err)
		}
		for j := range 2 {
			set := containers.NewSet{Name: fmt.Sprint("set-", i, "-", j), DataspaceID: d.ID.String()}
			w.sets = append(w.sets, must(w.svc.Sets.Create(ctx, w.admin, set)))
		}
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// upload creates a resource, or replaces the one with this id.
func (w *world) upload(ctx context.Context, svc *repository.Service, into metadata.Set, over, name, body string) (metadata.Resource, error) {
	up := svc.Uploads.NewUpload(w.admin)
	defer func() { check(up.Discard()) }()
	if err := up.Receive(ctx, bytes.NewBufferString(body)); err != nil {
		return metadata.Resource{}, err
	}
	set := into.ID.String()
	fields := files.UploadFields{SetID: &set, Name: &name}
	if over == "" {
		return up.Create(ctx, fields)
	}
	return up.Replace(ctx, over, fields)
}

// writer randomly changes its own resources, and remembers the last result for each.
type writer struct {
	w     *world
	rng   *rand.Rand
	name  string
	mine  []metadata.Resource
	wrote int
}

// step performs one change.
func (wr *writer) step() {
	wr.wrote++
	wr.w.with(func(ctx context.Context, svc *repository.Service) {
		if len(wr.mine) == 0 || wr.rng.IntN(3) == 0 {
			set := wr.w.sets[wr.rng.IntN(len(wr.w.sets))]
			name := fmt.Sprintf("%04d-%s", wr.rng.IntN(10000), wr.name)
			wr.mine = append(wr.mine, must(wr.w.upload(ctx, svc, set, "", name, strconv.Itoa(wr.wrote))))
			return
		}
		at := wr.rng.IntN(len(wr.mine))
		wr.mine[at] = wr.change(ctx, svc, wr.mine[at])
	})
	wr.w.mu.Lock()
	defer wr.w.mu.Unlock()
	if wr.w.steps++; wr.w.steps%10 == 0 {
		close(wr.w.stepped)
		wr.w.stepped = make(chan struct{})
	}
}

// progress returns the number of changes, and a channel that is closed after some more.
func (w *world) progress() (steps int, more <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.steps, w.stepped
}

func (wr *writer) change(ctx context.Context, svc *repository.Service, r metadata.Resource) metadata.Resource {
	id, admin := r.ID.String(), wr.w.admin
	if r.State == metadata.Deleted {
		return must(svc.Files.Restore(ctx, admin, id, core.Match{}))
	}
	switch wr.rng.IntN(3) {
	case 0:
		return must(svc.Files.Delete(ctx, admin, id, core.Match{}))
	case 1:
		return must(wr.w.upload(ctx, svc, metadata.Set{Record: metadata.Record{ID: r.SetID}}, id, r.Name, strconv.Itoa(wr.wrote)))
	}
	return must(svc.Files.Edit(ctx, admin, id, files.Fields{Description: new(strconv.Itoa(wr.wrote))}, core.Match{}))
}

// churn runs concurrent writers until each has made this many changes, with restarts in between. It
// returns the last acknowledged version of every resource.
func (w *world) churn(writers, changes, restarts int) map[metadata.ID]metadata.Resource {
	var running, stopper sync.WaitGroup
	all := make([]*writer, writers)
	for i := range all {
		all[i] = &writer{w: w, rng: rand.New(rand.NewPCG(uint64(i), 7)), name: fmt.Sprint("w", i)}
		running.Go(func() {
			for range changes {
				all[i].step()
			}
		})
	}
	done := make(chan struct{})
	begun, _ := w.progress()
	stopper.Go(func() {
		for n := range restarts {
			for steps, more := w.progress(); steps < begun+(n+1)*writers*changes/(restarts+1); steps, more = w.progress() {
				select {
				case <-done:
					return
				case <-more:
				}
			}
			w.restart()
		}
	})
	running.Wait()
	close(done)
	stopper.Wait()
	truth := map[metadata.ID]metadata.Resource{}
	for _, wr := range all {
		for _, r := range wr.mine {
			truth[r.ID] = r
		}
	}
	return truth
}

// walk is a harvester, which follows one listing from page to page, and keeps the URL that answered
// with the end.
type walk struct {
	w         *world
	name      string
	caller    auth.Principal
	listing   paging.Listing
	container string
	selection paging.Selection
	token     string
	got       []metadata.Resource
}

// page fetches one page and reports whether it was the end.
func (k *walk) page() (end bool) {
	k.w.with(func(ctx context.Context, svc *repository.Service) {
		request := core.ListRequest{Container: k.container, Token: k.token}
		if k.token == "" {
			request.Selection = k.selection
		}
		page, err := repositorytest.ListResources(ctx, svc, k.caller, k.listing, request)
		if err != nil {
			k.w.t.Errorf("%s: %v", k.name, err)
			end = true
			return
		}
		if end = len(page.Items) == 0; !end {
			k.token = page.Next
			k.got = append(k.got, page.Items...)
		}
	})
	return end
}

// toEnd walks to the end of the listing.
func (k *walk) toEnd() {
	for !k.page() {
	}
}

// follow resumes after each end, like a harvester, until stop is closed. Then it walks to the end
// once more.
func (k *walk) follow(stop <-chan struct{}) {
	for {
		_, more := k.w.progress()
		k.toEnd()
		select {
		case <-stop:
			k.toEnd()
			return
		case <-more:
		}
	}
}

// rewalk makes a few harvesters walk every listing repeatedly while meanwhile runs, and verifies
// each walk.
func (w *world) rewalk(orders []string, meanwhile func(), verify func(*walk)) {
	var all []*walk
	for _, order := range orders {
		all = append(all, w.walks(order)...)
	}
	var running sync.WaitGroup
	done := make(chan struct{})
	for i := range 3 {
		running.Go(func() {
			for n := i; ; n++ {
				fresh := *all[n%len(all)]
				fresh.toEnd()
				verify(&fresh)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	meanwhile()
	close(done)
	running.Wait()
}

// walks are the listings for testing the guarantees, of all kinds and with page sizes from 1 to
// 500.
func (w *world) walks(order string) (all []*walk) {
	space, set := w.spaces[0].ID.String(), w.sets[0].ID.String()
	for i, listing := range []struct {
		name      string
		caller    auth.Principal
		which     paging.Listing
		container string
	}{
		{"whole service", w.admin, paging.Resources, ""},
		{"member's dataspaces", w.member, paging.Resources, ""},
		{"one dataspace", w.member, paging.DataspaceResources, space},
		{"one set", w.admin, paging.SetResources, set},
	} {
		if order == "name" && listing.which != paging.SetResources {
			continue
		}
		for j, state := range []string{"all", "active"} {
			for _, limit := range []int{1 + i + j, 7, 100, 500} {
				all = append(all, &walk{
					w: w, name: fmt.Sprintf("%s, %s, by %d, %s", listing.name, state, limit, order),
					caller: listing.caller, listing: listing.which, container: listing.container,
					selection: repositorytest.Listed(listing.which, "", map[string][]string{"state": {state}, "limit": {strconv.Itoa(limit)}, "order": {order}}).Selection,
				})
			}
		}
	}
	return all
}

// covers reports whether the walk's listing can contain the resource in any state.
func (k *walk) covers(r metadata.Resource) bool {
	switch {
	case k.listing == paging.SetResources:
		return r.SetID.String() == k.container
	case k.listing == paging.DataspaceResources:
		return r.DataspaceID.String() == k.container
	case k.caller == k.w.member:
		return r.DataspaceID == k.w.spaces[0].ID || r.DataspaceID == k.w.spaces[1].ID
	}
	return true
}

// matches reports whether the walk's listing contains the resource in its current state.
func (k *walk) matches(r metadata.Resource) bool {
	return k.covers(r) && (k.selection.States == paging.All || r.State == metadata.Active)
}
