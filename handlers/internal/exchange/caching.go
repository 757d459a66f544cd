package exchange

// VaryByCaller is part of the Vary header of every route for anonymous readers.
const VaryByCaller = "Authorization, Cookie"

// Values of Cache-Control. All anonymous readers get the same answer, so a shared cache may keep
// it. The cache must revalidate it each time, since open data may be closed at any moment.
const (
	CachedForOne = "private, no-cache"
	CachedForAll = "public, no-cache"
	// The content of a link is a secret.
	CachedByNobody = "private, no-store"
)

// Caching returns the Cache-Control for an answer to this caller.
func (r *Request) Caching() string {
	switch {
	case r.ByLink:
		return CachedByNobody
	case r.Caller.Anonymous:
		return CachedForAll
	}
	return CachedForOne
}
