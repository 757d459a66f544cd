package blobstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/blobs"
)

// Manual is a clock that advances only when the test advances it. It is safe for concurrent use.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// NewManual returns a clock that shows now, truncated to milliseconds.
func NewManual(now time.Time) *Manual { return &Manual{now: now.Truncate(time.Millisecond)} }

// Now returns the time.
func (c *Manual) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Clock is a [blobs.Clock].
func (c *Manual) Clock(context.Context) (time.Time, error) { return c.Now(), nil }

// Advance sets the clock forward.
func (c *Manual) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// RunObjects checks a store against the contracts of [blobs.Store] and [blobs.Objects], in parallel
// subtests. open returns an empty store for each of them, which dates objects by the clock. It may
// register cleanups that check and close the store at the end of the subtest.
func RunObjects(t *testing.T, open func(t *testing.T, clock blobs.Clock) ObjectStore) {
	t.Helper()
	runAll(t, shared, func(t *testing.T) blobs.Store { return open(t, NewManual(time.Now()).Clock) })
	for _, test := range []test[dated]{
		{"names are new", testNewNames},
		{"dates", testDates},
		{"Commit looks again", testCommitLooks},
		{"Discard and Withdraw of objects", testWithdrawObject},
		{"WalkObjects", testWalkObjects},
		{"parts", testParts},
		{"parts lost", testPartsLost},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			clock := NewManual(time.Now())
			test.run(t, dated{open(t, clock.Clock), clock})
		})
	}
}

// dated is a store with its clock.
type dated struct {
	ObjectStore
	clock *Manual
}

// testNewNames tests that each upload of the same bytes creates another object.
func testNewNames(t *testing.T, store dated) {
	content := Content(1000)
	first, second := put(t, store, content), put(t, store, content)
	all, err := store.CommitAll(t.Context(), slices.Values([][]byte{content, content}))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, b := range []blobs.Blob{first, second, all[0].Blob, all[1].Blob} {
		wantRead(t, store, b, content)
		named[b.Object] = true
	}
	if len(named) != 4 || named[""] {
		t.Errorf("four bodies have the names %v", named)
	}
	wantError(t, "DeleteObject", store.DeleteObject(t.Context(), blobs.Object{Name: first.Object}), nil)
	wantError(t, "Open of a deleted object", tryRead(store, first, content), blobs.ErrNotFound)
	wantError(t, "DeleteObject again", store.DeleteObject(t.Context(), blobs.Object{Name: first.Object}), nil)
	wantRead(t, store, second, content)
}

// testDates tests that all times come from the clock.
func testDates(t *testing.T, store dated) {
	store.clock.Advance(-1000 * time.Hour) // far from every other clock
	begun := store.clock.Now()
	staged, err := store.Stage(t.Context(), bytes.NewReader(Content(10)), 0)
	if err != nil {
		t.Fatal(err)
	}
	if c := staged.Content(); !c.Begun.Equal(begun) || !c.Put.IsZero() || c.Object == "" {
		t.Errorf("before Commit: %+v, begun at %v", c, begun)
	}
	for range 2 {
		store.clock.Advance(time.Minute)
		c, err := staged.Commit(t.Context())
		if err != nil || !c.Begun.Equal(begun) || !c.Put.Equal(store.clock.Now()) {
			t.Errorf("Commit: %+v, %v; begun at %v, put at %v", c, err, begun, store.clock.Now())
		}
	}
	all, err := store.CommitAll(t.Context(), slices.Values([][]byte{Content(11)}))
	if now := store.clock.Now(); err != nil || !all[0].Begun.Equal(now) || !all[0].Put.Equal(now) {
		t.Errorf("CommitAll: %+v, %v; at %v", all, err, now)
	}
}

// testCommitLooks tests that Commit fails if the object is missing.
func testCommitLooks(t *testing.T, store dated) {
	staged, err := store.Stage(t.Context(), bytes.NewReader(Content(1000)), 0)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, "Commit", commit(t, staged), nil)
	wantError(t, "DeleteObject", store.DeleteObject(t.Context(), blobs.Object{Name: staged.Content().Object}), nil)
	if err := commit(t, staged); err == nil {
		t.Error("Commit of a missing object has succeeded")
	}
}

func testWithdrawObject(t *testing.T, store dated) {
	stage := func() blobs.Staged {
		staged, err := store.Stage(t.Context(), bytes.NewReader(Content(1000)), 0)
		if err != nil {
			t.Fatal(err)
		}
		return staged
	}
	refused := errors.New("refused")
	dropped, kept, withdrawn := stage(), stage(), stage()
	for _, s := range []blobs.Staged{kept, withdrawn} {
		wantError(t, "Commit", errors.Join(commit(t, s), s.Discard()), nil)
	}
	wantError(t, "Discard", errors.Join(dropped.Discard(), dropped.Discard()), nil)
	wantError(t, "Withdraw not confirmed", kept.Withdraw(func() error { return refused }), refused)
	wantError(t, "Withdraw", withdrawn.Withdraw(func() error { return nil }), nil)
	wantNamed(t, store, kept.Content().Object)
	wantRead(t, store, kept.Content().Blob, Content(1000))
}

// objects returns the existing objects.
func (s dated) objects(t *testing.T) (all []blobs.Object) {
	t.Helper()
	err := s.WalkObjects(t.Context(), func(o blobs.Object) error {
		all = append(all, o)
		return nil
	})
	if err != nil {
		t.Fatal("WalkObjects:", err)
	}
	return all
}

// wantNamed fails the test unless WalkObjects finds exactly these objects.
func wantNamed(t *testing.T, store dated, want ...string) {
	t.Helper()
	var got []string
	for _, o := range store.objects(t) {
		got = append(got, o.Name)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("WalkObjects found %q, want %q", got, want)
	}
}

func testWalkObjects(t *testing.T, store dated) {
	var want []string
	for size := range 5 {
		staged, err := store.Stage(t.Context(), bytes.NewReader(Content(size)), 0) // also before its commit
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, staged.Content().Object)
		store.clock.Advance(time.Second)
	}
	wantNamed(t, store, want...)
	for size, o := range store.objects(t) {
		age := time.Duration(5-size) * time.Second
		if o.Size != int64(size) || !o.Begun.Equal(store.clock.Now().Add(-age)) || o.Upload != "" {
			t.Errorf("object %d: %+v", size, o)
		}
	}
	enough, visits := errors.New("enough"), 0
	err := store.WalkObjects(t.Context(), func(blobs.Object) error { visits++; return enough })
	if err != enough || visits != 1 { // the error itself, not a wrapping error
		t.Errorf("WalkObjects: %v after %d visits", err, visits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = store.WalkObjects(ctx, func(blobs.Object) error { visits++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || visits != 2 {
		t.Errorf("WalkObjects cancelled: %v after %d visits", err, visits)
	}
}

// testParts appends a body that is long enough for several parts, in chunks that end within parts.
// Each chunk uses a new instance of the store, because the checkpoint contains the whole state.
func testParts(t *testing.T, store dated) {
	content := Content(11<<20 + 7)
	p := blobs.Partial{Name: "A", Length: int64(len(content))}
	former := map[string]bool{}
	begun := store.clock.Now()
	for _, end := range []int{1000, 5 << 20, 5<<20 + 1, 8 << 20, 11 << 20, len(content)} {
		store.clock.Advance(time.Hour)
		before := p.At
		add(t, store, &p, content[p.At.Size:end], io.EOF, 1<<30)
		store.removeFormer(t, before, p.At, former)
		wantError(t, "CheckPartial", store.CheckPartial(t.Context(), p), nil)
	}
	committed, err := completeOf(t, store, p).Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	named, err := store.PartialObjects(p.At)
	if err != nil || !slices.ContainsFunc(named, func(o blobs.Object) bool { return o.Name == committed.Object }) {
		t.Errorf("the checkpoint names %+v, %v, and the blob is %q", named, err, committed.Object)
	}
	if former[committed.Object] {
		t.Error("the blob is an object that an earlier checkpoint named, but a later one did not")
	}
	if !committed.Begun.After(begun) || !committed.Put.Equal(store.clock.Now()) {
		t.Errorf("begun %v, put %v", committed.Begun, committed.Put)
	}
	for _, o := range named {
		if o.Name != committed.Object {
			wantError(t, "DeleteObject", store.DeleteObject(t.Context(), o), nil)
		}
	}
	wantRead(t, store, committed.Blob, content)
	wantNamed(t, store, committed.Object)
	again, err := completeOf(t, store, p).Commit(t.Context())
	if err != nil || again.Blob != committed.Blob {
		t.Errorf("Commit repeated without a response: %+v, %v", again, err)
	}
}

// removeFormer deletes the objects that only the former checkpoint refers to, and records their
// names.
func (s dated) removeFormer(t *testing.T, before, after blobs.Checkpoint, former map[string]bool) {
	t.Helper()
	old, err := s.PartialObjects(before)
	if err != nil {
		t.Fatal(err)
	}
	now, err := s.PartialObjects(after)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range old {
		if slices.ContainsFunc(now, func(n blobs.Object) bool { return n.Name == o.Name }) {
			continue
		}
		former[o.Name] = true
		wantError(t, "DeleteObject", s.DeleteObject(t.Context(), o), nil)
	}
}

// testPartsLost tests that deleted objects are detected, and invalid checkpoints are rejected.
func testPartsLost(t *testing.T, store dated) {
	p := blobs.Partial{Name: "A", Length: 20 << 20}
	add(t, store, &p, Content(12<<20), io.EOF, 1<<30)
	strange := p.At
	strange.Parts = strings.Repeat("x", 20)
	_, err := store.PartialObjects(strange)
	wantError(t, "PartialObjects of nonsense", err, blobs.ErrDamaged)
	if none, err := store.PartialObjects(blobs.Checkpoint{}); len(none) != 0 || err != nil {
		t.Errorf("PartialObjects of a zero checkpoint: %v, %v", none, err)
	}
	removePartial(t, store, p)
	wantError(t, "CheckPartial", store.CheckPartial(t.Context(), p), blobs.ErrNotFound)
	wantNamed(t, store)
}
