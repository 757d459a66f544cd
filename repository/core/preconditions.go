package core

import (
	"slices"
	"strings"
	"time"

	"labshelf/metadata"
)

// Match holds the preconditions of a request on the version of an object (RFC 9110, section 13).
// The zero Match has no preconditions.
type Match struct {
	IfMatch     ETags
	IfNoneMatch ETags // only for changes; gateways answer reads with 304 themselves
	// IfUnmodifiedSince is ignored if IfMatch is set. The zero time is no condition.
	IfUnmodifiedSince time.Time
	// Read is the tag of the version that a gateway has read to decode an edit. For any other
	// version, Check returns ErrOutdated. "" allows any version.
	Read string
}

// ETags is the value of If-Match or If-None-Match. The zero ETags is an absent header.
type ETags struct {
	Set  bool     // the header was sent
	Any  bool     // "*", which matches any version
	Tags []string // without quotes; weak tags keep the prefix W/
}

// weakPrefix is the prefix of a weak entity tag.
const weakPrefix = "W/"

// Strong reports whether a tag matches by strong comparison, in which weak tags never match.
func (e ETags) Strong(tag string) bool {
	return e.Set && (e.Any || slices.Contains(e.Tags, tag))
}

// Weak reports whether a tag matches by weak comparison.
func (e ETags) Weak(tag string) bool {
	return e.Set && (e.Any || slices.ContainsFunc(e.Tags, func(t string) bool { return strings.TrimPrefix(t, weakPrefix) == tag }))
}

// Check returns an error of the kind Precondition if a condition is false for the version with this
// tag that was last modified at modified. Stamps have microseconds and HTTP dates have seconds, so
// a change within the second of the date counts as later.
func (m Match) Check(tag string, modified metadata.Stamp) error {
	switch {
	case m.IfMatch.Set && !m.IfMatch.Strong(tag):
		return PreconditionFailed("the object has changed since the version that If-Match names; read it again")
	case !m.IfMatch.Set && !m.IfUnmodifiedSince.IsZero() && modified > metadata.Stamp(m.IfUnmodifiedSince.UnixMicro()):
		return PreconditionFailed("the object has changed since the date in If-Unmodified-Since; read it again")
	case m.IfNoneMatch.Weak(tag):
		return PreconditionFailed("the object is in the version that If-None-Match excludes")
	case m.Read != "" && m.Read != tag:
		return ErrOutdated
	}
	return nil
}
