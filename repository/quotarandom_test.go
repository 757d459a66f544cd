package repository_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/links"
	"labshelf/repository/repositorytest"
)

// TestQuotasAtRandom lets three users store, replace, restore, copy, move, delete and purge files
// in every way. After each operation, the bytes used by each user and dataspace equal the sum over
// the versions in a plain model. The model predicts each refusal to the byte. QUOTAS is the number
// of operations.
func TestQuotasAtRandom(t *testing.T) {
	t.Parallel()
	steps, err := strconv.Atoi(os.Getenv("QUOTAS"))
	if err != nil {
		steps = 120
	}
	seed := rand.Uint64()
	t.Log("seed", seed)
	w := newQuotaWorld(t, rand.New(rand.NewPCG(seed, 0)))
	refusals := 0
	for step := range steps {
		op := w.operation()
		if op.run == nil {
			continue
		}
		fits, err := w.fits(op), op.run()
		switch {
		case fits && err == nil:
			op.model()
		case fits || err == nil:
			t.Fatalf("step %d, %s: %v; the model expects that it fits: %v", step, op.what, err, fits)
		default:
			refusals++
			w.full(op.what, err)
		}
		w.compare(fmt.Sprintf("step %d, %s", step, op.what))
	}
	if w.unreserved(); refusals == 0 {
		t.Error("no operation was refused")
	}
}

// storedVersion is a version in the model.
type storedVersion struct {
	content string
	by      int  // the user who stored the version
	gone    bool // whether the bytes were purged or erased
}

// storedFile is a resource in the model.
type storedFile struct {
	id       metadata.ID
	set      int
	name     string
	deleted  bool
	purged   bool
	movedTo  *storedFile
	from     []*storedFile // earlier records, left by moves, the latest first
	versions []*storedVersion
}

func (f *storedFile) present() *storedVersion { return f.versions[len(f.versions)-1] }

// quotaOperation is one operation: its name, the number of bytes that it adds, the set and the
// user.
type quotaOperation struct {
	what  string
	user  int
	set   int
	bytes int
	run   func() error
	model func() // applies the operation to the model
}

type quotaWorld struct {
	*rationed
	r      *rand.Rand
	users  []auth.Principal
	links  [][]string // tokens of request links, by user and set
	spaces []metadata.Dataspace
	sets   []metadata.Set
	quotas map[metadata.ID]int // of users and dataspaces; 0 means no limit
	files  []*storedFile
	names  int
}

func newQuotaWorld(t *testing.T, r *rand.Rand) *quotaWorld {
	w := &quotaWorld{rationed: newRationed(t, repository.Config{HoldUpTo: 20}), r: r}
	w.KeepLast(2)
	ctx, other := t.Context(), metadata.Dataspace{}
	other, err := w.Service.Dataspaces.Create(ctx, w.Admin, containers.NewDataspace{Name: "other", DataspaceFields: containers.DataspaceFields{Quota: new(int64(900))}})
	w.OK(err)
	w.limitSpace(2500)
	w.users, w.spaces = []auth.Principal{w.Admin, w.editor, w.newEditor("berta")}, []metadata.Dataspace{w.Space, other}
	w.quotas = map[metadata.ID]int{w.Space.ID: 2500, other.ID: 900, w.users[1].UserID: 1000, w.users[2].UserID: 700}
	for _, in := range []int{0, 0, 1} {
		set, err := w.Service.Sets.Create(ctx, w.Admin, containers.NewSet{Name: fmt.Sprint("of-quotas-", len(w.sets)), DataspaceID: w.spaces[in].ID.String()})
		w.OK(err)
		w.sets = append(w.sets, set)
	}
	for n, p := range w.users {
		if n > 0 {
			w.limitUser(p, int64(w.quotas[p.UserID]))
			_, _, err := w.Service.Users.Grant(ctx, w.Admin, containers.NewPrivilege{UserID: p.UserID.String(), DataspaceID: other.ID.String(), Role: auth.Editor})
			w.OK(err)
		}
		var tokens []string
		for _, set := range w.sets {
			_, token, err := w.Service.Links.Create(ctx, p, links.NewLink{Kind: metadata.RequestLink, SetID: new(set.ID.String())})
			w.OK(err)
			tokens = append(tokens, token)
		}
		w.links = append(w.links, tokens)
	}
	return w
}

func (w *quotaWorld) spaceOf(set int) int { return max(0, set-1) }

// sum returns the number of bytes of the versions for which counts returns true.
func (w *quotaWorld) sum(counts func(*storedFile, *storedVersion) bool) (bytes int) {
	for _, f := range w.files {
		for _, v := range f.versions {
			if !v.gone && counts(f, v) {
				bytes += len(v.content)
			}
		}
	}
	return bytes
}

func (w *quotaWorld) usedBy(user int) int {
	return w.sum(func(_ *storedFile, v *storedVersion) bool { return v.by == user })
}

func (w *quotaWorld) usedIn(space int) int {
	return w.sum(func(f *storedFile, _ *storedVersion) bool { return w.spaceOf(f.set) == space })
}

// left returns the number of bytes that a user may still store in a set.
func (w *quotaWorld) left(user, set int) int {
	left := 1 << 20
	if quota := w.quotas[w.users[user].UserID]; quota > 0 {
		left = quota - w.usedBy(user)
	}
	space := w.spaceOf(set)
	return min(left, w.quotas[w.spaces[space].ID]-w.usedIn(space))
}

func (w *quotaWorld) fits(op quotaOperation) bool {
	return op.bytes == 0 || op.bytes <= w.left(op.user, op.set)
}

func (w *quotaWorld) compare(what string) {
	w.T.Helper()
	for n, p := range w.users {
		share, err := w.Service.Users.Usage(w.T.Context(), p, "me")
		if want := w.usedBy(n); err != nil || share.Used != int64(want) || share.Quota > 0 && share.Used > share.Quota {
			w.T.Fatalf("%s: user %d has stored %d of %d bytes, want %d, %v", what, n, share.Used, share.Quota, want, err)
		}
	}
	for n, d := range w.spaces {
		u, err := w.Service.Dataspaces.DataspaceUsage(w.T.Context(), w.Admin, d.ID.String())
		if want := w.usedIn(n); err != nil || u.Bytes() != int64(want) || u.Bytes() > int64(w.quotas[d.ID]) {
			w.T.Fatalf("%s: dataspace %d contains %d of %d bytes, want %d, %v", what, n, u.Bytes(), w.quotas[d.ID], want, err)
		}
	}
	if w.Sound(); w.T.Failed() {
		w.T.Fatal(what)
	}
}

// pick returns a file at random, or nil if no file exists.
func (w *quotaWorld) pick(deleted bool) *storedFile {
	files := slices.DeleteFunc(slices.Clone(w.files), func(f *storedFile) bool { return f.purged || f.deleted != deleted })
	if len(files) == 0 {
		return nil
	}
	return files[w.r.IntN(len(files))]
}

// content returns new content. Its length is often exactly what the user may still store in the
// set, or one byte more.
func (w *quotaWorld) content(user, set int) string {
	length := 8 + w.r.IntN(120)
	if left := w.left(user, set); left > 8 && left < 1000 && w.r.IntN(6) == 0 {
		length = left + w.r.IntN(2)
	}
	w.names++
	return fmt.Sprintf("%-*d", length, w.names)
}

func (w *quotaWorld) name() string {
	w.names++
	return fmt.Sprint("file-", w.names)
}

func (w *quotaWorld) operation() quotaOperation {
	user := w.r.IntN(len(w.users))
	active, deleted, n := w.pick(false), w.pick(true), w.r.IntN(16)
	switch {
	case n < 4 || active == nil:
		return w.create(user, w.r.IntN(len(w.sets)))
	case n < 7:
		return w.replaceBy(user, active)
	case n == 7:
		return w.restoreVersion(user, active)
	case n == 8:
		return w.eraseVersion(active)
	case n == 9:
		return quotaOperation{what: "delete " + active.name, run: func() error {
			_, err := w.Service.Files.Delete(w.T.Context(), w.users[user], active.id.String(), repositorytest.Always)
			return err
		}, model: func() { active.deleted = true }}
	case n == 10 && deleted != nil:
		return quotaOperation{what: "restore " + deleted.name, run: func() error {
			_, err := w.Service.Files.Restore(w.T.Context(), w.users[user], deleted.id.String(), repositorytest.Always)
			return err
		}, model: func() { deleted.deleted, deleted.movedTo = false, nil }}
	case n < 13:
		return w.copyTo(user, active, w.r.IntN(len(w.sets)), w.pick(false))
	case n < 15:
		return w.moveTo(user, active, w.r.IntN(len(w.sets)))
	case w.r.IntN(4) == 0:
		return w.purge()
	}
	return quotaOperation{}
}

// full fails the test unless err reports an exceeded quota.
func (w *quotaWorld) full(what string, err error) {
	w.T.Helper()
	repositorytest.WantCode(w.T, err, errs.CodeQuotaExceeded)
	if w.T.Failed() {
		w.T.Fatal(what)
	}
}
