package paging

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash"
	"sync"

	"github.com/oklog/ulid/v2"
)

// The maximum lengths of tokens, in characters.
const (
	// MaxToken is the longest token of a query without names and origin.
	MaxToken = 512
	// MaxNamedToken is the longest token of a query in an order by name, with an
	// Origin or with a Text.
	MaxNamedToken = 6144
)

// ErrToken is the only error for invalid tokens, so that it does not reveal the reason.
var ErrToken = errors.New("paging: invalid page token")

// The version is the first byte of a token; appendTo defines the layout. Tokens never expire, so
// another layout needs another version, and all versions are read. A query that fits version 1 has
// a token of version 1.
const (
	version     = 1
	wideVersion = 2 // allows more parts
)

const macSize = 16

// encoding is strict about unused bits, but skips line breaks.
var encoding = base64.RawURLEncoding.Strict()

// Codec makes and reads page tokens with one secret. It is safe for concurrent use.
type Codec struct {
	scratch sync.Pool // of *scratch, because creating an HMAC costs more than using it
}

type scratch struct {
	mac       hash.Hash
	raw, text []byte
	sum       []byte
}

// NewCodec returns a codec. Anyone with the secret can forge tokens.
func NewCodec(secret [32]byte) *Codec {
	return &Codec{scratch: sync.Pool{New: func() any {
		return &scratch{mac: hmac.New(sha256.New, secret[:])}
	}}}
}

// Encode returns the token of a query: the same for equal queries, URL-safe,
// and at most MaxToken or MaxNamedToken characters. The error is ErrQuery, for
// a query that breaks the rules.
func (c *Codec) Encode(q Query) (string, error) {
	s := c.scratch.Get().(*scratch)
	defer c.scratch.Put(s)
	raw, err := q.appendTo(s.raw[:0])
	if err != nil {
		return "", err
	}
	s.raw = append(raw, s.sign(raw)...)
	s.text = encoding.AppendEncode(s.text[:0], s.raw)
	return string(s.text), nil
}

// Decode returns the query of a token that Encode made with the same secret for the same listing
// and parent (zero for a listing without one). Encoding it again gives the same token. The error is
// ErrToken.
func (c *Codec) Decode(listing Listing, parent ulid.ULID, token string) (Query, error) {
	if len(token) > MaxNamedToken {
		return Query{}, ErrToken
	}
	s := c.scratch.Get().(*scratch)
	defer c.scratch.Put(s)
	var err error
	s.text = append(s.text[:0], token...)
	s.raw, err = encoding.AppendDecode(s.raw[:0], s.text)
	n := len(s.raw) - macSize
	if err != nil || n < 0 || encoding.EncodedLen(len(s.raw)) != len(token) {
		return Query{}, ErrToken
	}
	raw := s.raw[:n]
	if !hmac.Equal(s.raw[n:], s.sign(raw)) {
		return Query{}, ErrToken
	}
	q := readQuery(raw)
	// Only the canonical form is valid: the encoding of the query. This also refuses another
	// version, missing or extra bytes, and values out of bounds.
	s.text, err = q.appendTo(s.text[:0])
	if err != nil || !bytes.Equal(s.text, raw) || q.Listing != listing || q.Parent != parent {
		return Query{}, ErrToken
	}
	return q, nil
}

// byStamp reports whether positions in this order have a stamp.
func (o Order) byStamp() bool { return o == Oldest || o == Newest || o == ByRelevance }

// sign returns the authentication code of raw, valid until the next call.
func (s *scratch) sign(raw []byte) []byte {
	s.mac.Reset()
	s.mac.Write(raw)
	s.sum = s.mac.Sum(s.sum[:0])
	return s.sum[:macSize]
}

// appendTo appends the layout. Numbers are big-endian: version, listing, states, order, limit (2
// bytes), and parts (2 bytes; 4 in version 2). The parts follow in the order of their bits, with
// the position last. The selected fields, the counts and the folders are one bit each and have no
// content. A text follows its length (2 bytes). The name of the position is last, without a length,
// and without the query's name or prefix.
func (q *Query) appendTo(b []byte) ([]byte, error) {
	if err := q.check(); err != nil {
		return b, err
	}
	have := q.parts()
	b = append(b, version, byte(q.Listing), byte(q.States), byte(q.Order))
	b = binary.BigEndian.AppendUint16(b, uint16(q.Limit))
	if have < partFolders {
		b = binary.BigEndian.AppendUint16(b, uint16(have))
	} else {
		b[0] = wideVersion
		b = binary.BigEndian.AppendUint32(b, uint32(have))
	}
	for _, id := range [...]*ulid.ULID{&q.Parent, &q.Dataspace, &q.Set, &q.User} {
		if *id != (ulid.ULID{}) {
			b = append(b, id[:]...)
		}
	}
	for _, bound := range [...]Bound{q.Since, q.Until} {
		if bound.Set {
			b = binary.BigEndian.AppendUint64(b, uint64(bound.At))
		}
	}
	for _, text := range [...]*string{&q.Visibility, q.Origin, q.Name, &q.NamePrefix} {
		if text != nil && (*text != "" || text == q.Origin) {
			b = binary.BigEndian.AppendUint16(b, uint16(len(*text)))
			b = append(b, *text...)
		}
	}
	if q.Object != (ulid.ULID{}) {
		b = append(b, q.Object[:]...)
	}
	if q.Action != "" {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(q.Action))), q.Action...)
	}
	if q.Text != "" {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(q.Text))), q.Text...)
	}
	if have&partAfter == 0 {
		return b, nil
	}
	if q.Order == ByRelevance {
		b = binary.BigEndian.AppendUint32(b, q.After.Score)
	}
	if q.Order.byStamp() {
		b = binary.BigEndian.AppendUint64(b, uint64(q.After.Stamp))
	}
	b = append(b, q.After.ID[:]...)
	if q.Order.ByNames() {
		b = append(b, q.After.Name[len(q.nameBase()):]...)
	}
	return b, nil
}

// reader consumes a layout. Beyond its end, all values are zero: the query then has a longer
// encoding, which Decode refuses.
type reader struct{ rest []byte }

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.rest = nil
		return make([]byte, n)
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) number() int   { return int(binary.BigEndian.Uint16(r.take(2))) }
func (r *reader) stamp() int64  { return int64(binary.BigEndian.Uint64(r.take(8))) }
func (r *reader) id() ulid.ULID { return ulid.ULID(r.take(16)) }
func (r *reader) text() string  { return string(r.take(r.number())) }

// readQuery is the inverse of appendTo, for any bytes.
func readQuery(b []byte) (q Query) {
	r := reader{b}
	head := r.take(4)
	q.Listing, q.States, q.Order = Listing(head[1]), States(head[2]), Order(head[3])
	q.Limit = r.number()
	have := r.parts(head[0])
	for _, to := range [...]struct {
		part part
		id   *ulid.ULID
	}{{partParent, &q.Parent}, {partDataspace, &q.Dataspace}, {partSet, &q.Set}, {partUser, &q.User}} {
		if have&to.part != 0 {
			*to.id = r.id()
		}
	}
	if have&partSince != 0 {
		q.Since = Bound{r.stamp(), true}
	}
	if have&partUntil != 0 {
		q.Until = Bound{r.stamp(), true}
	}
	if have&partVisibility != 0 {
		q.Visibility = r.text()
	}
	if have&partOrigin != 0 {
		origin := r.text()
		q.Origin = &origin
	}
	if have&partName != 0 {
		name := r.text()
		q.Name = &name
	}
	if have&partNamePrefix != 0 {
		q.NamePrefix = r.text()
	}
	if have&partObject != 0 {
		q.Object = r.id()
	}
	if have&partAction != 0 {
		q.Action = r.text()
	}
	if have&partText != 0 {
		q.Text = r.text()
	}
	q.Descriptive, q.Counts, q.Folders = have&partFields != 0, have&partCounts != 0, have&partFolders != 0
	if have&partAfter != 0 {
		r.after(&q)
	}
	return q
}

// parts reads the parts in a token of a version.
func (r *reader) parts(version byte) part {
	if version == wideVersion {
		return part(binary.BigEndian.Uint32(r.take(4)))
	}
	return part(r.number())
}

// after reads the position.
func (r *reader) after(q *Query) {
	if q.Order == ByRelevance {
		q.After.Score = binary.BigEndian.Uint32(r.take(4))
	}
	if q.Order.byStamp() {
		q.After.Stamp = r.stamp()
	}
	q.After.ID = r.id()
	if q.Order.ByNames() {
		q.After.Name = q.nameBase() + string(r.rest)
	}
}
