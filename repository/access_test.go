package repository_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/bolt"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// visitor is a user with a key and a role, whose rights change while many requests of his are under way.
type visitor struct {
	*held
	user  metadata.User
	key   string
	keyID metadata.ID
	role  metadata.Privilege
	old   auth.Principal // of a request that began before the change
	file  string

	session    string // token of one that the key has made
	oldSession auth.Principal
}

func (h *held) newVisitor(n int) *visitor {
	h.t.Helper()
	ctx, v := h.t.Context(), &visitor{held: h, file: h.files[0].ID.String()}
	var err error
	v.user, err = h.svc.CreateUser(ctx, h.admin, repository.Fields{"username": fmt.Sprint("visitor-", n)})
	h.ok(err)
	var k metadata.Key
	k, v.key, err = h.svc.CreateKey(ctx, h.admin, v.user.ID.String(), nil)
	h.ok(err)
	v.keyID = k.ID
	v.grant("member")
	v.old, err = h.svc.Authenticate(ctx, v.key)
	h.ok(err)
	_, v.session, _, err = h.svc.SignIn(ctx, v.key, "")
	h.ok(err)
	v.oldSession, err = h.svc.AuthenticateSession(ctx, v.session)
	h.ok(err)
	return v
}

func (v *visitor) grant(role string) {
	v.t.Helper()
	var err error
	v.role, _, err = v.svc.Grant(v.t.Context(), v.admin,
		repository.Fields{"userId": v.user.ID.String(), "dataspaceId": v.space.ID.String(), "role": role})
	v.ok(err)
}

func (v *visitor) visibility(to string) error {
	_, err := v.svc.UpdateDataspace(v.t.Context(), v.admin, v.space.ID.String(),
		repository.Edit[metadata.Dataspace]{Fields: repository.Fields{"visibility": to}})
	return err
}

func (v *visitor) sysadmin(is bool) error {
	_, err := v.svc.UpdateUser(v.t.Context(), v.admin, v.user.ID.String(),
		repository.Edit[metadata.User]{Fields: repository.Fields{"sysadmin": is}})
	return err
}

// gets returns the requests that the visitor makes, by what they are. nil means that he got what he asked for.
func (v *visitor) gets(ctx context.Context) map[string]func() error {
	record := func(p auth.Principal) error {
		_, err := v.svc.GetResource(ctx, p, v.file)
		return err
	}
	return map[string]func() error{
		"a record": func() error {
			p, err := v.svc.Authenticate(ctx, v.key)
			if err != nil {
				return err
			}
			return record(p)
		},
		"a record, in a request that began before": func() error { return record(v.old) },
		"a record, with a session": func() error {
			p, err := v.svc.AuthenticateSession(ctx, v.session)
			if err != nil {
				return err
			}
			return record(p)
		},
		"a record, in a request with a session that began before": func() error { return record(v.oldSession) },
		"a page": func() error {
			p, err := v.svc.Authenticate(ctx, v.key)
			if err != nil {
				return err
			}
			page, err := repositorytest.ListResources(ctx, v.svc, p, paging.Resources, repository.ListRequest{})
			if err == nil && len(page.Items) == 0 {
				err = errNothing
			}
			return err
		},
	}
}

var errNothing = errors.New("nothing")

// isActive is a request that gets what it asks for while the file and all that it is in are active.
func (v *visitor) isActive() error {
	r, err := v.svc.GetResource(v.t.Context(), v.admin, v.file)
	if err == nil && r.State != metadata.Active {
		err = errNothing
	}
	return err
}

// storm makes requests from 16 goroutines while change runs. Whatever begins after that must fare as wanted.
func (v *visitor) storm(name string, gets map[string]func() error, change func() error, wanted func(error) bool) {
	var changed, over atomic.Bool
	var after atomic.Int64
	var readers sync.WaitGroup
	for range 16 {
		readers.Go(func() {
			for !over.Load() {
				for what, get := range gets {
					was := changed.Load()
					if err := get(); was && !wanted(err) {
						v.t.Errorf("%s: then %s answers: %v", name, what, err)
						return
					}
					if was {
						after.Add(1)
					}
				}
			}
		})
	}
	time.Sleep(time.Millisecond)
	err := change()
	changed.Store(true)
	for until := time.Now().Add(10 * time.Second); after.Load() < 64 && !v.t.Failed() && time.Now().Before(until); {
		time.Sleep(100 * time.Microsecond)
	}
	over.Store(true)
	readers.Wait()
	v.ok(err)
}

// TestRightsEndWithTheirRevocation: after a change was answered nobody gets in by what he could do before, and whoever may come
// in does so at once, while 16 readers keep in memory whatever can be kept.
func TestRightsEndWithTheirRevocation(t *testing.T) {
	t.Parallel()
	meta, err := bolt.Open(filepath.Join(t.TempDir(), "meta.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	svc := repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 1000})
	h := populated(t, svc, 1)
	in, out := func(err error) bool { return err == nil }, func(err error) bool { return err != nil }
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	for n := range rounds {
		ctx := t.Context()
		v := h.newVisitor(n)
		user, key := v.user.ID.String(), v.keyID.String()
		for _, c := range []struct {
			name   string
			change func() error
			wanted func(error) bool
		}{
			{"a role is revoked", func() error { _, err := svc.Revoke(ctx, h.admin, v.role.ID.String(), always); return err }, out},
			{"a role is granted", func() error { v.grant("editor"); return nil }, in},
			{"it is revoked again", func() error { _, err := svc.Revoke(ctx, h.admin, v.role.ID.String(), always); return err }, out},
			{"a dataspace becomes public", func() error { return v.visibility("public") }, in},
			{"a dataspace becomes private", func() error { return v.visibility("private") }, out},
			{"a user becomes a sysadmin", func() error { return v.sysadmin(true) }, in},
			{"he is none any more", func() error { return v.sysadmin(false) }, out},
			{"a role is granted again", func() error { v.grant("member"); return nil }, in},
			{"a key is revoked", func() error { return svc.RevokeKey(ctx, h.admin, user, key) }, out},
		} {
			v.storm(c.name, v.gets(ctx), c.change, c.wanted)
		}
		v = h.newVisitor(2*rounds + n)
		sessions := v.gets(ctx)
		for what := range sessions {
			if !strings.Contains(what, "session") {
				delete(sessions, what)
			}
		}
		v.storm("a session is signed out", sessions, func() error { return svc.SignOut(ctx, v.session) }, out)
		h.ok(v.gets(ctx)["a record"]())
		v = h.newVisitor(rounds + n)
		set, shown := h.sets[0].ID.String(), map[string]func() error{"the state": v.isActive}
		v.storm("a set is deleted", shown, func() error { _, err := svc.DeleteSet(ctx, h.admin, set, always); return err }, out)
		v.storm("a set is restored", shown, func() error { _, err := svc.RestoreSet(ctx, h.admin, set, always); return err }, in)
		v.storm("a user is deleted", v.gets(ctx), func() error { _, err := svc.DeleteUser(ctx, h.admin, v.user.ID.String(), always); return err }, out)
		v.storm("he is restored, without his key", v.gets(ctx), func() error {
			_, err := svc.RestoreUser(ctx, h.admin, v.user.ID.String(), always)
			return err
		}, out)
	}
	svc.Close()
	if err := meta.Close(); err != nil {
		t.Error(err)
	}
}

// counting counts transactions.
type counting struct {
	*metadatatest.Memory
	views, updates atomic.Int64
}

func (c *counting) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	c.views.Add(1)
	return c.Memory.View(ctx, fn)
}

func (c *counting) UpdateBehind(ctx context.Context, fn func(*metadata.Tx) error) error {
	c.updates.Add(1)
	return c.Memory.UpdateBehind(ctx, fn)
}

// TestAuthenticateFromMemory: a key that is known costs no transaction and no allocation, ends when it expires, and is written
// down as used once a minute.
func TestAuthenticateFromMemory(t *testing.T) {
	meta := &counting{Memory: metadatatest.NewMemory(time.Now)}
	var ahead atomic.Int64
	svc := repository.New(meta, blobstest.NewMemory(), repository.Config{
		PageSize: 10, DirectoryPageSize: 10, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	h := populated(t, svc, 1)
	ends := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	_, key, err := svc.CreateKey(t.Context(), h.admin, "me", repository.Fields{"expires": ends})
	h.ok(err)
	authenticate := func() {
		var p auth.Principal
		if p, err = svc.Authenticate(t.Context(), key); err == nil && p.UserID != h.admin.UserID {
			err = errors.New("somebody else")
		}
	}
	authenticate()
	h.ok(err)
	settle := func() int64 {
		for before := int64(-1); before != meta.updates.Load(); time.Sleep(20 * time.Millisecond) {
			before = meta.updates.Load()
		}
		return meta.updates.Load()
	}
	updates, views := settle(), meta.views.Load()
	ctx := t.Context()
	if got := testing.AllocsPerRun(1000, func() { _, err = svc.Authenticate(ctx, key) }); got != 0 || err != nil {
		t.Errorf("%v allocations, %v", got, err)
	}
	if got := meta.views.Load() - views; got != 0 {
		t.Errorf("%d transactions", got)
	}
	if got := settle() - updates; got != 0 {
		t.Errorf("%d commits in the first minute", got)
	}
	for minute := range int64(3) {
		ahead.Add(int64(61 * time.Second))
		for range 100 {
			authenticate()
			h.ok(err)
		}
		if got := settle() - updates; got != minute+1 {
			t.Errorf("%d commits after %d minutes", got, minute+1)
		}
	}
	p, err := svc.Authenticate(ctx, key)
	h.ok(err)
	ahead.Add(int64(time.Hour))
	authenticate()
	h.refused(err, errs.CodeUnauthenticated)
	_, err = svc.GetResource(ctx, p, h.files[0].ID.String())
	h.refused(err, errs.CodeUnauthenticated)
}

// TestFactsAreBounded: more keys than are remembered, each of which goes on working.
func TestFactsAreBounded(t *testing.T) {
	t.Parallel()
	svc := repository.New(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
	h := populated(t, svc)
	svc.RememberAtMost(10)
	var keys []string
	for range 25 {
		_, key, err := svc.CreateKey(t.Context(), h.admin, "me", nil)
		h.ok(err)
		keys = append(keys, key)
	}
	for range 3 {
		for _, key := range keys {
			_, err := svc.Authenticate(t.Context(), key)
			h.ok(err)
			if got := svc.Remembered(); got < 1 || got > 10 {
				t.Fatalf("%d keys are remembered", got)
			}
		}
	}
	_, err := svc.Authenticate(t.Context(), strings.Repeat("x", 40))
	h.refused(err, errs.CodeUnauthenticated)
	if got := svc.Remembered(); got > 10 {
		t.Errorf("%d keys are remembered", got)
	}
}

// TestRightsOfAnotherAttempt: an operation that is carried out again has the rights of that attempt alone. In the first one its
// caller has just become a sysadmin; in the second one he has not, since that change was given up meanwhile.
func TestRightsOfAnotherAttempt(t *testing.T) {
	t.Parallel()
	meta, err := bolt.Open(filepath.Join(t.TempDir(), "meta.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	svc := repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
	v := populated(t, svc, 1).newVisitor(0)
	entered, release := make(chan struct{}), make(chan struct{})
	var promoted, created, spoiled, held error
	var done sync.WaitGroup
	done.Go(func() {
		held = meta.Update(t.Context(), func(*metadata.Tx) error { close(entered); <-release; return nil })
	})
	<-entered
	// These three share a batch, in this order: each waits in the queue before the next one comes.
	queued := func(op func()) {
		done.Go(op)
		time.Sleep(20 * time.Millisecond) // until it waits; nothing can be seen of that
	}
	promotion, giveUp := context.WithCancel(t.Context())
	attempts := 0
	queued(func() {
		promoted = meta.Update(promotion, func(tx *metadata.Tx) error {
			u := v.user
			u.Sysadmin = true
			return tx.Users.Put(u)
		})
	})
	queued(func() { _, created = svc.CreateUser(t.Context(), v.old, repository.Fields{"username": "not-by-him"}) })
	queued(func() {
		spoiled = meta.Update(t.Context(), func(tx *metadata.Tx) error {
			attempts++
			giveUp()
			return errors.Join(errNothing, tx.Users.Put(v.user))
		})
	})
	close(release)
	done.Wait()
	v.ok(held)
	if !errors.Is(promoted, context.Canceled) || !errors.Is(spoiled, errNothing) || attempts != 1 {
		t.Errorf("%v; %v; %d attempts", promoted, spoiled, attempts)
	}
	v.refused(created, errs.CodeForbidden)
	svc.Close()
	v.ok(meta.Close())
}
