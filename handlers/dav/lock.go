package dav

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/hosts"
	"labshelf/metadata"
	"labshelf/repository/folders"
)

// supportedLocks is the value of the property supportedlock.
const supportedLocks = "<D:lockentry><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>" +
	"<D:lockentry><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>"

// appendLocks appends the content of the property lockdiscovery.
func appendLocks(text []byte, all []lock) []byte {
	for _, l := range all {
		scope, depth := "exclusive", "0"
		if l.shared {
			scope = "shared"
		}
		if l.infinite {
			depth = "infinity"
		}
		text = append(append(append(text, "<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:"...), scope...), "/></D:lockscope><D:depth>"...)
		text = append(append(text, depth...), "</D:depth>"...)
		if l.owner != "" {
			text = append(append(append(text, "<D:owner>"...), l.owner...), "</D:owner>"...)
		}
		text = strconv.AppendInt(append(text, "<D:timeout>Second-"...), int64(l.timeout.Seconds()), 10)
		text = append(append(append(text, "</D:timeout><D:locktoken><D:href>"...), l.token...), "</D:href></D:locktoken><D:lockroot><D:href>"...)
		text = append(append(text, l.root...), "</D:href></D:lockroot></D:activelock>"...)
	}
	return text
}

// lock answers LOCK. The lock of a free name creates no record; the PUT that follows creates it.
func (d *Drive) lock(w http.ResponseWriter, r *request) error {
	asked, refresh, err := readLock(w, r.Request)
	if err != nil {
		return err
	}
	e, err := d.repo.Drive.Writable(r.Context(), r.caller, r.at)
	if err != nil {
		return err
	}
	timeout := timeoutOf(r.Header.Get("Timeout"))
	if refresh {
		return d.refresh(w, r, timeout)
	}
	switch r.Header.Get("Depth") {
	case "", "infinity":
		asked.infinite = true
	case "0":
	default:
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "Depth", Message: "the Depth of a LOCK is 0 or infinity"}
	}
	asked.path, asked.user, asked.key, asked.timeout = r.path, r.caller.UserID, r.caller.KeyID, timeout
	asked.root = d.href(r.path, e.Missing == folders.Present && e.File == nil)
	added, inTheWay, full, err := d.add(r, asked)
	switch {
	case err != nil:
		return err
	case full:
		return &errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "there are too many locks; try again when some have ended"}
	case inTheWay != nil:
		return &refusal{http.StatusLocked, "<D:no-conflicting-lock><D:href>" + inTheWay.root + "</D:href></D:no-conflicting-lock>"}
	}
	status := http.StatusOK
	if e.Missing != folders.Present {
		status = http.StatusCreated
	}
	w.Header().Set("Lock-Token", "<"+added.token+">")
	sendLock(w, status, *added)
	return nil
}

// refresh restarts the timeout of the lock that the If header names.
func (d *Drive) refresh(w http.ResponseWriter, r *request, timeout time.Duration) error {
	now := time.Now()
	for _, l := range r.locks.of(r.path, false, now) {
		if l.user != r.caller.UserID || !slices.Contains(tokensOf(r.ifs), l.token) {
			continue
		}
		var refreshed lock
		ok := false
		err := d.changeLocks(r.Context(), func(ls *locks, now time.Time) { refreshed, ok = ls.refresh(l.token, timeout, now) })
		if err != nil {
			return err
		}
		if ok {
			sendLock(w, http.StatusOK, refreshed)
			return nil
		}
	}
	return &refusal{http.StatusPreconditionFailed, "<D:lock-token-matches-request-uri/>"}
}

func sendLock(w http.ResponseWriter, status int, l lock) {
	w.Header().Set("Content-Type", xmlType)
	w.WriteHeader(status)
	_, _ = w.Write(append(appendLocks([]byte(xmlHead+`<D:prop xmlns:D="DAV:"><D:lockdiscovery>`), []lock{l}), "</D:lockdiscovery></D:prop>"...))
}

// timeoutOf parses the Timeout header. The first known value counts.
func timeoutOf(header string) time.Duration {
	for value := range strings.SplitSeq(header, ",") {
		value = strings.TrimSpace(value)
		if value == "Infinite" {
			return maxTimeout
		}
		text, ok := strings.CutPrefix(value, "Second-")
		if seconds, err := strconv.ParseUint(text, 10, 32); ok && err == nil && seconds > 0 {
			return min(time.Duration(seconds)*time.Second, maxTimeout)
		}
	}
	return defaultTimeout
}

// unlock answers UNLOCK.
func (d *Drive) unlock(w http.ResponseWriter, r *request) error {
	token, closed := strings.CutSuffix(strings.TrimSpace(r.Header.Get("Lock-Token")), ">")
	token, opened := strings.CutPrefix(token, "<")
	if !closed || !opened {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "Lock-Token", Message: "Lock-Token must be the token of the lock in angle brackets"}
	}
	if _, err := d.repo.Drive.Writable(r.Context(), r.caller, r.at); err != nil {
		return err
	}
	of := r.locks.of(r.path, false, time.Now())
	at := slices.IndexFunc(of, func(l lock) bool { return l.token == token })
	switch {
	case at < 0:
		return &refusal{http.StatusConflict, "<D:lock-token-matches-request-uri/>"}
	case of[at].user != r.caller.UserID:
		if err := d.repo.Drive.EndsLocks(r.Context(), r.caller, r.at); err != nil {
			return err
		}
	}
	if err := d.changeLocks(r.Context(), func(ls *locks, _ time.Time) { ls.remove(token, r.path) }); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func mustSplit(path string) folders.DrivePath {
	at, _ := split(path)
	return at
}

// meetNow is like meet, for the state before the request is served. It looks up the other files
// that the If header names, so that meet can run in a transaction.
func (d *Drive) meetNow(r *request) error {
	if len(r.ifs) == 0 {
		return nil
	}
	r.tagged = map[string]*metadata.Resource{}
	for _, list := range r.ifs {
		path, ok := d.taggedPath(r, list)
		if _, known := r.tagged[path]; !ok || known {
			continue
		}
		e, err := d.repo.Drive.Lookup(r.Context(), r.caller, mustSplit(path))
		if err == nil {
			r.tagged[path] = e.File
		} else if path == r.path {
			return err
		}
	}
	return d.meet(r, r.tagged[r.path])
}

// taggedPath returns the path that a list of conditions applies to. ok reports whether the path is
// on the drive.
func (d *Drive) taggedPath(r *request, list conditions) (path string, ok bool) {
	if list.resource == "" {
		return r.path, true
	}
	return d.pathOf(r, list.resource)
}

// meet returns an error if the conditions of the If header are false. file is the file at the path
// of the request, or nil.
func (d *Drive) meet(r *request, file *metadata.Resource) error {
	if len(r.ifs) == 0 {
		return nil
	}
	for _, list := range r.ifs {
		path, ok := d.taggedPath(r, list)
		of, known := file, true
		if path != r.path {
			of, known = r.tagged[path]
		}
		if !ok || !known {
			continue
		}
		tag := ""
		if of != nil {
			tag = Tag(of.Digest)
		}
		if list.hold(r.locks.of(path, false, time.Now()), tag) {
			return nil
		}
	}
	return preconditionFailed()
}

// pathOf returns the path on the drive for an address. ok is false if the address belongs to
// another service, or is not below the prefix.
func (d *Drive) pathOf(r *request, address string) (path string, ok bool) {
	to, err := url.Parse(address)
	if err != nil || to.User != nil || to.Opaque != "" {
		return "", false
	}
	if to.Host != "" || to.Scheme != "" {
		if !slices.Contains(d.hosts.Origins(r.Request), hosts.OriginOf(to)) {
			return "", false
		}
	}
	below, ok := strings.CutPrefix(to.Path, d.prefix)
	if !ok || below != "" && below[0] != '/' || strings.Contains(strings.ToLower(to.RawPath), "%2f") {
		return "", false
	}
	return trim(below), true
}
