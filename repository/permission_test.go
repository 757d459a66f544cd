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
	"testing/synctest"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/repositorytest"
)

// visitor is a user with a key and a role whose permissions change during many requests.
type visitor struct {
	*held
	user  metadata.User
	key   string
	keyID metadata.ID
	role  metadata.Privilege
	old   auth.Principal // the principal of a request that began before the change
	file  string

	session    string // token of a session of the key
	oldSession auth.Principal
}

func (h *held) newVisitor(n int) *visitor {
	h.T.Helper()
	ctx, v := h.T.Context(), &visitor{held: h, file: h.Resources[0].ID.String()}
	var err error
	v.user, err = h.Service.Users.Create(ctx, h.Admin, containers.NewUser{Username: fmt.Sprint("visitor-", n)})
	h.OK(err)
	var k metadata.Key
	k, v.key, err = h.Service.Users.CreateKey(ctx, h.Admin, v.user.ID.String(), containers.KeyFields{})
	h.OK(err)
	v.keyID = k.ID
	v.grant("member")
	v.old, err = h.Service.Credentials.Authenticate(ctx, v.key, auth.Origin{})
	h.OK(err)
	_, v.session, _, err = h.Service.Credentials.SignIn(ctx, v.key, "", auth.Origin{})
	h.OK(err)
	v.oldSession, err = h.Service.Credentials.AuthenticateSession(ctx, v.session, auth.Origin{})
	h.OK(err)
	return v
}

func (v *visitor) grant(role string) {
	v.T.Helper()
	var err error
	v.role, _, err = v.Service.Users.Grant(v.T.Context(), v.Admin,
		containers.NewPrivilege{UserID: v.user.ID.String(), DataspaceID: v.Space.ID.String(), Role: repositorytest.RoleOf(role)})
	v.OK(err)
}

func (v *visitor) visibility(to metadata.Visibility) error {
	_, err := v.Service.Dataspaces.Update(v.T.Context(), v.Admin, v.Space.ID.String(),
		containers.DataspaceFields{Visibility: &to}, core.Match{})
	return err
}

func (v *visitor) sysadmin(is bool) error {
	_, err := v.Service.Users.Update(v.T.Context(), v.Admin, v.user.ID.String(),
		containers.UserFields{Sysadmin: new(is)}, core.Match{})
	return err
}

// gets returns the requests of the visitor by name. A request returns nil if it succeeds.
func (v *visitor) gets(ctx context.Context) map[string]func() error {
	record := func(p auth.Principal) error {
		_, err := v.Service.Files.Get(ctx, p, v.file)
		return err
	}
	return map[string]func() error{
		"a record": func() error {
			p, err := v.Service.Credentials.Authenticate(ctx, v.key, auth.Origin{})
			if err != nil {
				return err
			}
			return record(p)
		},
		"a record, in a request that began before": func() error { return record(v.old) },
		"a record, with a session": func() error {
			p, err := v.Service.Credentials.AuthenticateSession(ctx, v.session, auth.Origin{})
			if err != nil {
				return err
			}
			return record(p)
		},
		"a record, in a request with a session that began before": func() error { return record(v.oldSession) },
		"a page": func() error {
			p, err := v.Service.Credentials.Authenticate(ctx, v.key, auth.Origin{})
			if err != nil {
				return err
			}
			page, err := repositorytest.ListResources(ctx, v.Service, p, paging.Resources, core.ListRequest{})
			if err == nil && len(page.Items) == 0 {
				err = errNothing
			}
			return err
		},
	}
}

var errNothing = errors.New("nothing")

// isActive sends a request that succeeds while the file and its containers are active.
func (v *visitor) isActive() error {
	r, err := v.Service.Files.Get(v.T.Context(), v.Admin, v.file)
	if err == nil && r.State != metadata.Active {
		err = errNothing
	}
	return err
}

// storm sends requests from 16 goroutines while change runs. wanted is called with the result of
// each request that begins afterwards.
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
						v.T.Errorf("%s: then %s answers: %v", name, what, err)
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
	for until := time.Now().Add(10 * time.Second); after.Load() < 64 && !v.T.Failed() && time.Now().Before(until); {
		time.Sleep(100 * time.Microsecond)
	}
	over.Store(true)
	readers.Wait()
	v.OK(err)
}

// TestRevocationAgainstCache: after the response to a change, no caller has former
// permissions, and new permissions apply immediately, while 16 readers fill the cache.
func TestRevocationAgainstCache(t *testing.T) {
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
			{"a role is revoked", func() error {
				_, err := svc.Users.Revoke(ctx, h.Admin, v.role.ID.String(), repositorytest.Always)
				return err
			}, out},
			{"a role is granted", func() error { v.grant("editor"); return nil }, in},
			{"it is revoked again", func() error {
				_, err := svc.Users.Revoke(ctx, h.Admin, v.role.ID.String(), repositorytest.Always)
				return err
			}, out},
			{"a dataspace becomes public", func() error { return v.visibility(metadata.Public) }, in},
			{"a dataspace becomes private", func() error { return v.visibility(metadata.Private) }, out},
			{"a dataspace becomes open", func() error { return v.visibility(metadata.Open) }, in},
			{"an open dataspace becomes private", func() error { return v.visibility(metadata.Private) }, out},
			{"a user becomes a sysadmin", func() error { return v.sysadmin(true) }, in},
			{"the caller is no sysadmin any more", func() error { return v.sysadmin(false) }, out},
			{"a role is granted again", func() error { v.grant("member"); return nil }, in},
			{"a key is revoked", func() error { return svc.Users.RevokeKey(ctx, h.Admin, user, key, false) }, out},
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
		v.storm("a session is signed out", sessions, func() error { return svc.Credentials.SignOut(ctx, v.session, auth.Origin{}) }, out)
		h.OK(v.gets(ctx)["a record"]())
		v = h.newVisitor(rounds + n)
		set, shown := h.Sets[0].ID.String(), map[string]func() error{"the state": v.isActive}
		v.storm("a set is deleted", shown, func() error { _, err := svc.Sets.Delete(ctx, h.Admin, set, repositorytest.Always); return err }, out)
		v.storm("a set is restored", shown, func() error { _, err := svc.Sets.Restore(ctx, h.Admin, set, repositorytest.Always); return err }, in)
		v.storm("a user is deleted", v.gets(ctx), func() error {
			_, err := svc.Users.Delete(ctx, h.Admin, v.user.ID.String(), repositorytest.Always)
			return err
		}, out)
		v.storm("the caller is restored, without the key", v.gets(ctx), func() error {
			_, err := svc.Users.Restore(ctx, h.Admin, v.user.ID.String(), repositorytest.Always)
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

func (c *counting) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	c.updates.Add(1)
	return c.Memory.UpdateBackground(ctx, fn)
}

// TestKeyCached: a cached key requires no transaction and no allocation, is refused after it has
// expired, and its use is recorded once a minute.
func TestKeyCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meta := &counting{Memory: metadatatest.NewMemory(time.Now)}
		var ahead atomic.Int64
		svc := repository.New(meta, blobstest.NewMemory(), repository.Config{
			PageSize: 10, DirectoryPageSize: 10, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
		})
		defer svc.Close()
		h := populated(t, svc, 1)
		ends := metadata.Stamp(time.Now().Add(time.Hour).Truncate(time.Second).UnixMicro())
		_, key, err := svc.Users.CreateKey(t.Context(), h.Admin, "me", containers.KeyFields{Expires: &ends})
		h.OK(err)
		authenticate := func() {
			var p auth.Principal
			if p, err = svc.Credentials.Authenticate(t.Context(), key, auth.Origin{}); err == nil && p.UserID != h.Admin.UserID {
				err = errors.New("another user")
			}
		}
		authenticate()
		h.OK(err)
		settle := func() int64 {
			synctest.Wait()
			return meta.updates.Load()
		}
		updates, views := settle(), meta.views.Load()
		ctx := t.Context()
		if got := testing.AllocsPerRun(1000, func() { _, err = svc.Credentials.Authenticate(ctx, key, auth.Origin{}) }); got != 0 || err != nil {
			t.Errorf("%v allocations, %v", got, err)
		}
		if got := meta.views.Load() - views; got != 0 {
			t.Errorf("%d transactions", got)
		}
		if got := settle() - updates; got != 0 {
			t.Errorf("%d commits during the first minute", got)
		}
		for minute := range int64(3) {
			ahead.Add(int64(61 * time.Second))
			for range 100 {
				authenticate()
				h.OK(err)
			}
			if got := settle() - updates; got != minute+1 {
				t.Errorf("%d commits after %d minutes", got, minute+1)
			}
		}
		p, err := svc.Credentials.Authenticate(ctx, key, auth.Origin{})
		h.OK(err)
		ahead.Add(int64(time.Hour))
		authenticate()
		h.Refused(err, errs.CodeUnauthenticated)
		_, err = svc.Files.Get(ctx, p, h.Resources[0].ID.String())
		h.Refused(err, errs.CodeUnauthenticated)
	})
}

// TestCacheBounded: all keys work, even if there are more keys than fit into the cache.
func TestCacheBounded(t *testing.T) {
	t.Parallel()
	svc := repository.New(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
	h := populated(t, svc)
	svc.CacheAtMost(10)
	var keys []string
	for range 25 {
		_, key, err := svc.Users.CreateKey(t.Context(), h.Admin, "me", containers.KeyFields{})
		h.OK(err)
		keys = append(keys, key)
	}
	for range 3 {
		for _, key := range keys {
			_, err := svc.Credentials.Authenticate(t.Context(), key, auth.Origin{})
			h.OK(err)
			if got := svc.Cached(); got < 1 || got > 10 {
				t.Fatalf("%d keys are remembered", got)
			}
		}
	}
	_, err := svc.Credentials.Authenticate(t.Context(), strings.Repeat("x", 40), auth.Origin{})
	h.Refused(err, errs.CodeUnauthenticated)
	if got := svc.Cached(); got > 10 {
		t.Errorf("%d keys are remembered", got)
	}
}

// TestRetryReadsPermissionsAgain: a retried operation has only the permissions that its last
// attempt has read. In the first attempt, its caller has just become a sysadmin. In the second
// attempt, it has not, because that change was rolled back.
func TestRetryReadsPermissionsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
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
		// These three operations share a batch, in this order: each waits in the queue before the
		// next one starts.
		queued := func(op func()) {
			done.Go(op)
			synctest.Wait() // until op waits
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
		queued(func() {
			_, created = svc.Users.Create(t.Context(), v.old, containers.NewUser{Username: "not-created"})
		})
		queued(func() {
			spoiled = meta.Update(t.Context(), func(tx *metadata.Tx) error {
				attempts++
				giveUp()
				return errors.Join(errNothing, tx.Users.Put(v.user))
			})
		})
		close(release)
		done.Wait()
		v.OK(held)
		if !errors.Is(promoted, context.Canceled) || !errors.Is(spoiled, errNothing) || attempts != 1 {
			t.Errorf("%v; %v; %d attempts", promoted, spoiled, attempts)
		}
		v.Refused(created, errs.CodeForbidden)
		svc.Close()
		v.OK(meta.Close())
	})
}
