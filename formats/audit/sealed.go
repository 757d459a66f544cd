package audit

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/go-json-experiment/json/jsontext"
)

// Sealed is a text stored next to an entry. The digest in the leaf is the SHA-256 of the salt
// followed by the text. Without the salt, the text cannot be guessed by trying. The zero value
// means that the entry has no text, or that it was erased.
type Sealed struct {
	Salt [16]byte
	Text string
}

// Seal returns a text with a new salt, or the zero Sealed for "".
func Seal(text string) (s Sealed) {
	if text != "" {
		rand.Read(s.Salt[:]) // never fails
		s.Text = text
	}
	return s
}

// Digest returns the digest in the leaf; it is zero for the zero Sealed.
func (s Sealed) Digest() (digest [32]byte) {
	if s == (Sealed{}) {
		return digest
	}
	return sha256.Sum256(append(append(make([]byte, 0, 512), s.Salt[:]...), s.Text...))
}

// Changes collects changed fields as a JSON object. Each field is an object with before and now, or
// only the new value if the field was empty. The zero value is empty.
type Changes struct{ json []byte }

// Change adds a field if it has changed.
func (c *Changes) Change(name, before, now string) {
	switch {
	case before == now:
	case before == "":
		c.name(name)
		c.quote(now)
	default:
		c.name(name)
		c.json = append(c.json, `{"before":`...)
		c.quote(before)
		c.json = append(c.json, `,"now":`...)
		c.quote(now)
		c.json = append(c.json, '}')
	}
}

func (c *Changes) name(name string) {
	if c.json == nil {
		c.json = append(make([]byte, 0, 256), '{')
	} else {
		c.json = append(c.json, ',')
	}
	c.quote(name)
	c.json = append(c.json, ':')
}

// quote appends a text as JSON, and replaces invalid UTF-8.
func (c *Changes) quote(text string) { c.json, _ = jsontext.AppendQuote(c.json, text) }

// String returns the object, or "" if it has no field.
func (c *Changes) String() string {
	if c.json == nil {
		return ""
	}
	return string(c.json) + "}"
}
