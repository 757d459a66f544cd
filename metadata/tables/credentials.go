package tables

import (
	"labshelf/auth"
	"labshelf/metadata"
)

// The stored form of keys and sessions; see fields.go.

func keyFields(c *codec, k *metadata.Key) {
	c.fixed(k.ID[:])
	c.fixed(k.UserID[:])
	c.fixed(k.Digest[:])
	c.text(&k.Label)
	c.text(&k.Prefix)
	c.stamp(&k.Created)
	c.stamp(&k.Expires)
	c.stamp(&k.LastUsed)
	c.stamp(&k.Gone)
	addedThen(c, &k.MadeWith, idField, &k.Limits, limitsFields)
}

func limitsFields(c *codec, l *auth.Limits) {
	c.uint8((*uint8)(&l.Scope))
	c.fixed(l.Dataspace[:])
	c.fixed(l.Set[:])
	c.text((*string)(&l.Networks))
}

func sessionFields(c *codec, s *metadata.Session) {
	c.fixed(s.UserID[:])
	c.fixed(s.KeyID[:])
	c.fixed(s.Digest[:])
	c.stamp(&s.Created)
	c.stamp(&s.Expires)
}
