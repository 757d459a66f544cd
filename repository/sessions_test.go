package repository_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/repositorytest"
)

// TestSessionCached: like a cached key, a cached session requires no transaction and no allocation.
func TestSessionCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meta := &counting{Memory: metadatatest.NewMemory(time.Now)}
		svc := repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
		defer svc.Close()
		h := populated(t, svc, 1)
		_, key, err := svc.Users.CreateKey(t.Context(), h.Admin, "me", containers.KeyFields{})
		h.OK(err)
		_, token, ends, err := svc.Credentials.SignIn(t.Context(), key, "", auth.Origin{})
		h.OK(err)
		if age := time.Until(ends.Time()); age < 29*24*time.Hour || age > 31*24*time.Hour {
			t.Errorf("it lasts %s", age)
		}
		ctx := t.Context()
		p, err := svc.Credentials.AuthenticateSession(ctx, token, auth.Origin{})
		h.OK(err)
		if p.UserID != h.Admin.UserID || p.Session == (auth.SessionDigest{}) {
			t.Errorf("another user: %+v", p)
		}
		synctest.Wait() // until all background work is idle
		views := meta.views.Load()
		if got := testing.AllocsPerRun(1000, func() { _, err = svc.Credentials.AuthenticateSession(ctx, token, auth.Origin{}) }); got != 0 || err != nil {
			t.Errorf("%v allocations, %v", got, err)
		}
		if got := meta.views.Load() - views; got != 0 {
			t.Errorf("%d transactions", got)
		}
		for _, other := range []string{"", "x", key, token + "A", token[:len(token)-1], token[:len(token)-2] + "**", "lss_" + strings.Repeat("A", 64)} {
			_, err := svc.Credentials.AuthenticateSession(ctx, other, auth.Origin{})
			h.Refused(err, errs.CodeUnauthenticated)
			if !errors.Is(err, core.ErrUnknownKey) {
				t.Errorf("%q: %v", other, err)
			}
			h.OK(svc.Credentials.SignOut(ctx, other, auth.Origin{}))
		}
		_, err = svc.Credentials.AuthenticateSession(ctx, token, auth.Origin{})
		h.OK(err)
	})
}

// undurableStore is a store that can no longer guarantee durability.
type undurableStore struct {
	metadata.Store
	lost bool
}

func (f *undurableStore) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	if f.lost {
		return metadata.ErrNotDurable
	}
	return f.Store.ViewDurable(ctx, fn)
}

// TestSignOutDurable: the end of a session is reported only after a power failure cannot undo it.
func TestSignOutDurable(t *testing.T) {
	t.Parallel()
	meta := &undurableStore{Store: metadatatest.NewMemory(time.Now)}
	svc := repositorytest.NewStill(meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10})
	h := populated(t, svc, 1)
	_, key, err := svc.Users.CreateKey(t.Context(), h.Admin, "me", containers.KeyFields{})
	h.OK(err)
	_, token, _, err := svc.Credentials.SignIn(t.Context(), key, "", auth.Origin{})
	h.OK(err)
	h.OK(svc.Credentials.SignOut(t.Context(), token, auth.Origin{}))
	meta.lost = true
	if err := svc.Credentials.SignOut(t.Context(), token, auth.Origin{}); !errors.Is(err, metadata.ErrNotDurable) {
		t.Errorf("signed out: %v", err)
	}
}
