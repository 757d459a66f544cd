package core

import (
	"slices"
	"time"

	"labshelf/metadata"
)

// Match holds the preconditions of a request on the version of an object. The zero Match has no
// preconditions.
type Match struct {
	Is    Versions // the versions that the caller allows
	IsNot Versions // the versions that the caller excludes
	// UnmodifiedSince is ignored if Is is set. The zero time is not a condition.
	UnmodifiedSince time.Time
	// Read is the tag of the version that a gateway has read to decode an edit. For any other
	// version, Check returns ErrOutdated. "" allows any version.
	Read string
}

// Versions are versions of an object, by their tags. The zero Versions is not a condition.
type Versions struct {
	Set  bool // the condition applies, even without Any and Tags
	Any  bool // all versions
	Tags []string
}

// MatchTag returns the precondition that an object is in the version with this tag.
func MatchTag(tag string) Match {
	return Match{Is: Versions{Set: true, Tags: []string{tag}}}
}

// Has reports whether the version with this tag is one of them.
func (v Versions) Has(tag string) bool {
	return v.Set && (v.Any || slices.Contains(v.Tags, tag))
}

// Check returns an error of the kind Precondition if a condition is false for the version with this
// tag that was last modified at modified. Stamps have microseconds and the dates of clients often
// have seconds, so a change within the second of the date counts as later.
func (m Match) Check(tag string, modified metadata.Stamp) error {
	switch {
	case m.Is.Set && !m.Is.Has(tag):
		return PreconditionFailed("the object has changed since the version that the request names; read it again")
	case !m.Is.Set && !m.UnmodifiedSince.IsZero() && modified > metadata.Stamp(m.UnmodifiedSince.UnixMicro()):
		return PreconditionFailed("the object has changed since the date that the request names; read it again")
	case m.IsNot.Has(tag):
		return PreconditionFailed("the object is in the version that the request excludes")
	case m.Read != "" && m.Read != tag:
		return ErrOutdated
	}
	return nil
}
