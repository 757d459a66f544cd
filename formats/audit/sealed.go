package audit

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/go-json-experiment/json/jsontext"
)

// Sealed is a text beside an entry: the digest in the leaf is the SHA-256 of the salt and the text,
// one after the other. Without the salt nobody can find out by trying which text it was. The zero
// value: there is none, or it was erased.
type Sealed struct {
	Salt [16]byte
	Text string
}

// Seal returns a text with a new salt; the zero Sealed for "".
func Seal(text string) (s Sealed) {
	if text != "" {
		rand.Read(s.Salt[:]) // never fails
		s.Text = text
	}
	return s
}

// Digest returns what stands in the leaf; zero for the zero Sealed.
func (s Sealed) Digest() (digest [32]byte) {
	if s == (Sealed{}) {
		return digest
	}
	return sha256.Sum256(append(append(make([]byte, 0, 512), s.Salt[:]...), s.Text...))
}

// Changes collects fields as a JSON object: those that have changed, as an object with before and
// now, or only what they are now if they said nothing before. The zero value is empty.
type Changes struct{ json []byte }

// Change adds a field, unless it has not changed.
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

// quote writes a text as JSON; what is no UTF-8 in it is replaced.
func (c *Changes) quote(text string) { c.json, _ = jsontext.AppendQuote(c.json, text) }

// String returns the object, "" if it has no field.
func (c *Changes) String() string {
	if c.json == nil {
		return ""
	}
	return string(c.json) + "}"
}
