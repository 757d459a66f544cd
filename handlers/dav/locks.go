package dav

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

	"labshelf/metadata"
)

const (
	maxLocks       = 10_000
	maxUserLocks   = 1_000
	defaultTimeout = 10 * time.Minute
	maxTimeout     = time.Hour
)

// lock is a write lock of one path. An infinite lock also covers everything below the path. Only
// the field expires changes.
type lock struct {
	token            string // an absolute URI
	path             string // of the drive, without slashes at either end, in NFC
	infinite, shared bool
	owner            string      // XML, as sent
	root             string      // address of the path
	user, key        metadata.ID // of the holder
	timeout          time.Duration
	expires          time.Time
}

// composed returns a path in NFC, the form in which locks store it. So a lock covers all forms of a
// name.
func composed(path string) string { return norm.NFC.String(path) }

// covers reports whether the lock applies to a path.
func (l *lock) covers(path string) bool {
	return l.path == path || l.infinite && within(path, l.path)
}

// within reports whether a path is below a folder.
func within(path, folder string) bool {
	return folder == "" && path != "" || len(path) > len(folder) && path[len(folder)] == '/' && strings.HasPrefix(path, folder)
}

// parentOf returns the folder of a path.
func parentOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// locks are all locks, in memory. They affect only requests below /dav/. They are safe for
// concurrent use.
type locks struct {
	mu      sync.Mutex
	byToken map[string]*lock
	users   map[metadata.ID]int
}

func newLocks() *locks {
	return &locks{byToken: map[string]*lock{}, users: map[metadata.ID]int{}}
}

// add adds a lock with a new token. inTheWay is a lock of the path, above it or below it that
// excludes the new one. full reports that there are too many locks.
func (ls *locks) add(l lock, now time.Time) (added *lock, inTheWay *lock, full bool) {
	l.path = composed(l.path)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, other := range ls.byToken {
		if !now.Before(other.expires) {
			ls.drop(other)
			continue
		}
		overlap := other.covers(l.path) || l.covers(other.path)
		if overlap && !(l.shared && other.shared) {
			return nil, other, false
		}
	}
	if len(ls.byToken) >= maxLocks || ls.users[l.user] >= maxUserLocks {
		return nil, nil, true
	}
	var random [16]byte
	rand.Read(random[:]) // never fails
	random[6], random[8] = random[6]&0x0f|0x40, random[8]&0x3f|0x80
	text := hex.EncodeToString(random[:])
	l.token = "urn:uuid:" + text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
	l.expires = now.Add(l.timeout)
	ls.byToken[l.token] = &l
	ls.users[l.user]++
	shown := l
	return &shown, nil, false
}

// drop removes a lock. The caller holds ls.mu.
func (ls *locks) drop(l *lock) {
	delete(ls.byToken, l.token)
	if ls.users[l.user]--; ls.users[l.user] == 0 {
		delete(ls.users, l.user)
	}
}

// of returns the locks that cover a path. With below set, it also returns the locks of paths below
// it.
func (ls *locks) of(path string, below bool, now time.Time) (found []lock) {
	path = composed(path)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, l := range ls.byToken {
		switch {
		case !now.Before(l.expires):
			ls.drop(l)
		case l.covers(path), below && within(l.path, path):
			found = append(found, *l)
		}
	}
	return found
}

// any reports whether any lock exists.
func (ls *locks) any() bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return len(ls.byToken) > 0
}

// refresh restarts the timeout of a lock.
func (ls *locks) refresh(token string, timeout time.Duration, now time.Time) (refreshed lock, ok bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l, ok := ls.byToken[token]
	if !ok || !now.Before(l.expires) {
		return refreshed, false
	}
	l.timeout, l.expires = timeout, now.Add(timeout)
	return *l, true
}

// remove removes a lock if it covers the path.
func (ls *locks) remove(token, path string) (l lock, ok bool) {
	path = composed(path)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	known, ok := ls.byToken[token]
	if !ok || !known.covers(path) {
		return l, false
	}
	ls.drop(known)
	return *known, true
}

// end removes the locks with these tokens.
func (ls *locks) end(tokens []string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, token := range tokens {
		if l, ok := ls.byToken[token]; ok {
			ls.drop(l)
		}
	}
}

// forget removes the locks of a removed path and of everything below it.
func (ls *locks) forget(path string) {
	path = composed(path)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, l := range ls.byToken {
		if l.path == path || within(l.path, path) {
			ls.drop(l)
		}
	}
}
