package core

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/storage"
)

// The rows that decide about access change rarely and are needed by every request, so they are
// cached. The cache is never out of date: rows are stored under the AccessVersion of the
// transaction that read them, and only transactions of the same version, which would read the same
// rows, use them. A revoked key or role is therefore refused at the next request.

// maxFacts is the maximum number of cached rows, of about factBytes bytes each. When it is
// exceeded, the cache is cleared.
const (
	maxFacts  = 1 << 15
	factBytes = 200
)

// factCache holds the facts of the latest version.
type factCache struct {
	room   int
	latest atomic.Pointer[facts]
}

// presuming is the key of contexts in which callers may be presumed.
type presuming struct{}

// Presume returns a context in which Authenticate and AuthenticateSession may use cached facts
// without reading the present AccessVersion, which costs a round trip to a shared database. The
// transaction of the request verifies the version itself. If it has changed, the transaction reads
// nothing and returns ErrPresumed, and the request must run again without Presume. That is possible
// only for a request that has changed nothing by then.
func (s *Credentials) Presume(ctx context.Context) context.Context {
	if !s.core.Stores.Node.Shared() {
		return ctx
	}
	return context.WithValue(ctx, presuming{}, true)
}

// ErrPresumed reports that a presumed caller may no longer have the same rights.
var ErrPresumed = errors.New("the rights of users have changed since the caller was identified")

// presentFacts returns the facts of the present version, or the last known facts if presumed is
// true. It returns nil if the version is unknown.
func (s *Core) presentFacts(ctx context.Context) (present *facts, presumed bool, err error) {
	if ctx.Value(presuming{}) != nil {
		if present = s.facts.latest.Load(); present != nil {
			return present, true, nil
		}
	}
	version, err := s.Stores.Meta.AccessVersion(ctx)
	if err != nil {
		return nil, false, storage.Error(err)
	}
	return s.facts.at(version), false, nil
}

// at returns the facts of a version. It returns nil for version 0 and for an outdated version.
func (m *factCache) at(version uint64) *facts {
	if version == 0 {
		return nil
	}
	for {
		f := m.latest.Load()
		switch {
		case f != nil && f.version == version:
			return f
		case f != nil && f.version > version:
			return nil
		}
		fresh := &facts{version: version, room: m.room}
		fresh.clear()
		m.latest.CompareAndSwap(f, fresh)
	}
}

// UseFacts lets a transaction use the facts cached for its version.
func (s *Core) UseFacts(tx *metadata.Tx) { tx.Facts = s.facts.at(tx.Access()) }

// facts are the rows cached at one version. A nil facts is always empty. It is safe for concurrent
// use.
type facts struct {
	version uint64
	room    int // maximum number of cached rows

	mu       sync.RWMutex
	rows     int
	callers  map[auth.KeyDigest]*caller
	sessions map[auth.SessionDigest]*caller
	roles    map[inDataspace]auth.Role
	readable map[metadata.ID][]metadata.ID // the dataspaces that a user may read, ascending
	sets     map[metadata.ID]ResolvedSet
}

// inDataspace identifies a user in a dataspace.
type inDataspace struct{ user, dataspace metadata.ID }

// caller is the caller of a key or session, perhaps an expired one.
type caller struct {
	auth.Principal
	used atomic.Int64 // stamp of the last recorded use
}

func (f *facts) clear() {
	f.rows = 0
	f.callers, f.sessions = map[auth.KeyDigest]*caller{}, map[auth.SessionDigest]*caller{}
	f.roles = map[inDataspace]auth.Role{}
	f.readable, f.sets = map[metadata.ID][]metadata.ID{}, map[metadata.ID]ResolvedSet{}
}

// cached returns a cached value.
func cached[K comparable, V any](f *facts, in func(*facts) map[K]V, key K) (value V, ok bool) {
	if f == nil {
		return value, false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	value, ok = in(f)[key]
	return value, ok
}

// cache stores a value, which counts as this many rows.
func cache[K comparable, V any](f *facts, in func(*facts) map[K]V, key K, value V, rows int) {
	if f == nil || rows > f.room {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows += rows; f.rows > f.room {
		f.clear()
		f.rows = rows
	}
	in(f)[key] = value
}

func callersOf(f *facts) map[auth.KeyDigest]*caller { return f.callers }

func sessionsOf(f *facts) map[auth.SessionDigest]*caller { return f.sessions }

func rolesOf(f *facts) map[inDataspace]auth.Role { return f.roles }

func readableOf(f *facts) map[metadata.ID][]metadata.ID { return f.readable }

func setsOf(f *facts) map[metadata.ID]ResolvedSet { return f.sets }

// factsOf returns the facts that are valid in this transaction, or nil.
func factsOf(tx *metadata.Tx) *facts {
	f, _ := tx.Facts.(*facts)
	if f == nil || f.version != tx.Access() {
		return nil
	}
	return f
}

// RoleIn returns the role of a user in a dataspace, None without one.
func RoleIn(tx *metadata.Tx, user, dataspace metadata.ID) (role auth.Role, err error) {
	facts, place := factsOf(tx), inDataspace{user, dataspace}
	if role, ok := cached(facts, rolesOf, place); ok {
		return role, nil
	}
	privilege, err := tx.Privileges.Of(user, dataspace)
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		return auth.None, err
	}
	if err == nil && privilege.State == metadata.Active {
		role = privilege.Role
	}
	cache(facts, rolesOf, place, role, 1)
	return role, nil
}

// ResolveSet returns a set with everything that its state depends on. It caches nothing about a set
// that has a cascade.
func ResolveSet(tx *metadata.Tx, id metadata.ID) (ResolvedSet, error) {
	facts := factsOf(tx)
	if resolved, ok := cached(facts, setsOf, id); ok {
		return resolved, nil
	}
	resolved, err := readSet(tx, id)
	if err == nil && resolved.Above == nil && resolved.Own == nil {
		texts := len(resolved.Title) + len(resolved.Description) + len(resolved.Dataspace.Title) + len(resolved.Dataspace.Description)
		cache(facts, setsOf, id, resolved, 2+texts/factBytes)
	}
	return resolved, err
}

// Readable returns the ids of the dataspaces that the caller may read, ascending, without ids up to
// the given one. It includes deleted dataspaces. nil stands for all dataspaces. The caller must not
// change the slice. Readable returns an error if the key of the caller may not read, or reaches
// only one set.
func Readable(tx *metadata.Tx, p auth.Principal, after metadata.ID) ([]metadata.ID, error) {
	switch only := p.Limits.Dataspace; {
	case !p.Limits.Permits(only, metadata.ID{}, auth.Read):
		return nil, beyondLimits(p.Limits)
	case only != metadata.ID{}:
		return onlyReadable(tx, p, after)
	case p.Everywhere:
		return nil, nil
	case p.Anonymous: // it may list only within one dataspace
		return []metadata.ID{}, nil
	}
	facts := factsOf(tx)
	all, ok := cached(facts, readableOf, p.UserID)
	if !ok {
		var err error
		if all, err = readDataspaces(tx, p.UserID); err != nil {
			return nil, err
		}
		cache(facts, readableOf, p.UserID, all, 1+len(all))
	}
	first, found := slices.BinarySearchFunc(all, after, metadata.ID.Compare)
	if found {
		first++
	}
	return all[first:len(all):len(all)], nil
}

// onlyReadable is like Readable for a key that reaches only one dataspace.
func onlyReadable(tx *metadata.Tx, p auth.Principal, after metadata.ID) ([]metadata.ID, error) {
	ids := []metadata.ID{}
	d, err := tx.Dataspaces.Get(p.Limits.Dataspace)
	if err == nil {
		err = Authorise(tx, p, d, auth.Read)
	}
	switch refusal, is := errors.AsType[*errs.Error](err); {
	case is && refusal.Kind == errs.Forbidden, err == nil && d.ID.Compare(after) <= 0:
		return ids, nil
	case err != nil:
		return nil, err
	}
	return append(ids, d.ID), nil
}

// readDataspaces is like Readable without the cache.
func readDataspaces(tx *metadata.Tx, user metadata.ID) ([]metadata.ID, error) {
	ids := []metadata.ID{}
	for privilege, err := range tx.Privileges.OfUser(user, metadata.ID{}) {
		if err != nil {
			return nil, err
		}
		if privilege.State == metadata.Active {
			ids = append(ids, privilege.DataspaceID)
		}
	}
	roles := len(ids)
	for id, err := range tx.Dataspaces.Public(metadata.ID{}) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return mergeIDs(ids[:roles], ids[roles:]), nil
}
