package indexing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

const (
	// MaxText is how much of the beginning of a file is searched, in bytes.
	MaxText = 64 << 10
	// maxNotebook is the largest notebook that is read, in bytes: it is read whole, since its pictures may come first.
	maxNotebook = 4 << 20

	maxTexts     = 256     // files that one step reads
	maxTextBytes = 2 << 20 // of them together, about

	maxUnread  = 1000        // files that are looked for again after they could not be read
	healEvery  = time.Second // at most, where anything changes
	healAtRest = time.Minute // where nothing does
)

// readTexts reads the texts of the next files whose records are in the index. more is whether there may be others.
func (x *Indexing) readTexts(ctx context.Context) (more bool, err error) {
	at := x.position()
	if !at.textsBehind() {
		return false, nil
	}
	var b batch
	var bodies []body
	err = x.stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		b = x.newBatch(tx, at)
		bodies, err = b.texts()
		return err
	})
	if err != nil {
		return false, err
	}
	return b.more, x.applyWithTexts(ctx, b, bodies)
}

// applyWithTexts is apply, after it has read the texts of files whose documents are in the batch.
func (x *Indexing) applyWithTexts(ctx context.Context, b batch, bodies []body) (err error) {
	for _, body := range bodies {
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.changes[body.change].Document.Body, err = x.read(ctx, body); err != nil {
			return err
		}
	}
	return x.apply(b)
}

// readHealed reads the texts of files that could not be read before, and are there now. It looks for them at most once in healEvery.
func (x *Indexing) readHealed(ctx context.Context) (more bool, err error) {
	if x.unread != nil && (len(x.unread) == 0 || time.Since(x.looked) < healEvery) {
		return false, nil
	}
	x.looked = time.Now()
	at := x.position()
	var b batch
	var bodies []body
	err = x.stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) (err error) {
		if x.unread == nil {
			if x.unread, err = damages(tx); err != nil {
				return err
			}
		}
		b = x.newBatch(tx, at)
		bodies, err = x.healed(ctx, &b)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, body := range bodies {
		delete(x.unread, body.resource.Digest)
	}
	return false, x.applyWithTexts(ctx, b, bodies)
}

// damages returns the files that are known to be damaged, or some of them.
func damages(tx *metadata.Tx) (map[blobs.Digest]bool, error) {
	all := map[blobs.Digest]bool{}
	for damage, err := range tx.Damages.All() {
		if err != nil || len(all) == maxUnread {
			return all, err
		}
		all[damage.Digest] = true
	}
	return all, nil
}

// healed puts the resources whose files could not be read and are there now.
func (x *Indexing) healed(ctx context.Context, b *batch) (bodies []body, err error) {
	for digest := range x.unread {
		if _, err := b.tx.Damages.Get(digest); err == nil {
			continue
		}
		if there, err := x.isThere(ctx, b.tx, digest); err != nil || !there {
			continue
		}
		for key, err := range b.tx.Blobs.Refs(digest) {
			if err != nil || len(bodies) == maxTexts {
				return bodies, err
			}
			r, err := b.tx.Resources.Get(key.Resource)
			if err != nil {
				return nil, err
			}
			if r.Digest != digest || r.State != metadata.Active || !hasText(r) {
				continue
			}
			bodies = append(bodies, body{change: len(b.changes), resource: r})
			if err := b.putResource(r); err != nil {
				return nil, err
			}
		}
	}
	return bodies, nil
}

// isThere tells whether the file of a blob is there.
func (x *Indexing) isThere(ctx context.Context, tx *metadata.Tx, digest blobs.Digest) (bool, error) {
	b, err := x.stores.BlobOf(tx, metadata.Resource{Digest: digest})
	if err != nil {
		return false, err
	}
	_, err = x.stores.Blobs.Stat(ctx, b)
	return err == nil, nil
}

// body is a file whose text belongs to a document of the batch.
type body struct {
	change   int
	resource metadata.Resource
	inline   []byte // nil: it is a blob
	damaged  bool   // it is known to be
}

// texts reads the records of the next files that have a text.
func (b *batch) texts() (bodies []body, err error) {
	within := metadata.ResourceRange{
		States: paging.Active, Order: paging.Oldest, Until: b.at.stamp + 1,
		After: paging.Position{Stamp: int64(b.at.text), ID: b.at.textAfter},
	}
	found, last, err := b.withText(within)
	if err != nil {
		return nil, err
	}
	b.prefetchTexts(found)
	for _, r := range found {
		if b.slow() {
			b.more = true
			return bodies, nil
		}
		if err := b.putResource(r); err != nil {
			return nil, err
		}
		of, err := b.body(r)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, of)
		b.at.text, b.at.textAfter = r.Modified, r.ID
	}
	if b.more = last != (metadata.Record{}); b.more {
		b.at.text, b.at.textAfter = last.Modified, last.ID
		return bodies, nil
	}
	b.at.text, b.at.textAfter = b.at.stamp, metadata.ID{}
	for i := range b.at.textAfter {
		b.at.textAfter[i] = 0xff // behind every resource of that stamp
	}
	return bodies, nil
}

// withText returns the first files of a range that have a text. last is the last one that was looked at; zero: there are no others.
func (b *batch) withText(within metadata.ResourceRange) (found []metadata.Resource, last metadata.Record, err error) {
	looked, length := 0, int64(0)
	for r, err := range b.tx.Resources.Range(within) {
		if err != nil {
			return nil, last, err
		}
		if looked++; looked > maxScanned || len(found) == maxTexts || length > maxTextBytes {
			return found, last, nil
		}
		if last = r.Record; hasText(r) {
			found, length = append(found, r), length+min(r.Bytes, MaxText)
		}
	}
	return found, metadata.Record{}, nil
}

// prefetchTexts fetches what the documents and bodies of these resources read.
func (b *batch) prefetchTexts(of []metadata.Resource) {
	objects := make([]object, len(of))
	for i, r := range of {
		objects[i] = b.resource(r)
	}
	b.prefetch(objects)
	b.tx.Prefetch(func() {
		for _, r := range of {
			_, _ = b.body(r)
		}
	})
}

// body is the body of the file whose document is the last of the batch.
func (b *batch) body(r metadata.Resource) (of body, err error) {
	of = body{change: len(b.changes) - 1, resource: r}
	if r.Body == metadata.Inline {
		of.inline, err = b.tx.InlineBodies.Get(r.VersionKey())
		return of, err
	}
	_, unknown := b.tx.Damages.Get(r.Digest)
	of.damaged = unknown == nil
	return of, nil
}

// notebook is what the names of Jupyter's notebooks end with.
const notebook = ".ipynb"

// textTypes are the media types other than text/* whose files are texts.
var textTypes = map[string]bool{
	"application/json": true, "application/xml": true, "application/x-ndjson": true, "application/yaml": true, "application/toml": true,
	"application/javascript": true, "application/x-sh": true, "application/x-python": true, "application/sql": true, "application/ld+json": true,
	"application/geo+json": true, "application/x-ipynb+json": true, "image/svg+xml": true,
}

func hasText(r metadata.Resource) bool {
	bare, _, _ := strings.Cut(r.MimeType, ";")
	return r.Bytes > 0 && r.Body != metadata.Purged && (strings.HasPrefix(bare, "text/") || textTypes[bare])
}

// read returns the text of a file: "" where it is damaged, not there or none, which is for a check to say.
func (x *Indexing) read(ctx context.Context, of body) (string, error) {
	if of.inline != nil {
		return textOf(of.resource, bytes.NewReader(of.inline))
	}
	b, err := x.stores.Blob(ctx, of.resource)
	if err != nil {
		return "", err
	}
	file, err := x.stores.Blobs.Open(ctx, b)
	if err == nil && of.damaged {
		err = errors.Join(blobs.ErrDamaged, file.Close())
	}
	if errors.Is(err, blobs.ErrNotFound) || errors.Is(err, blobs.ErrDamaged) {
		if len(x.unread) < maxUnread {
			x.unread[of.resource.Digest] = true
		}
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text, err := textOf(of.resource, file)
	return text, errors.Join(err, file.Close())
}

// textOf returns what is searched of a file.
func textOf(r metadata.Resource, file io.Reader) (string, error) {
	isNotebook := strings.HasSuffix(strings.ToLower(r.Filename), notebook)
	most := int64(MaxText)
	if isNotebook {
		most = maxNotebook
	}
	raw, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return "", err
	}
	if isNotebook {
		raw = cells(raw)
	}
	return decode(raw), nil
}

// cells returns what people wrote into a notebook, without what came out of it; of what is no notebook the beginning.
func cells(raw []byte) []byte {
	var book struct {
		Cells []struct {
			Source any `json:"source"`
		} `json:"cells"`
	}
	if json.Unmarshal(raw, &book) != nil {
		return raw[:min(len(raw), MaxText)]
	}
	var text bytes.Buffer
	for _, cell := range book.Cells {
		switch source := cell.Source.(type) {
		case string:
			text.WriteString(source)
		case []any:
			for _, line := range source {
				line, _ := line.(string)
				text.WriteString(line)
			}
		}
		text.WriteByte('\n')
	}
	return text.Bytes()[:min(text.Len(), MaxText)]
}

// decode returns a text in UTF-8: of UTF-16 with a byte order mark, and of UTF-8. What is neither, as text in an
// older encoding, is searched for what is ASCII in it.
func decode(raw []byte) string {
	if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		raw, _ = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(raw)
	}
	return strings.ToValidUTF8(string(raw), " ")
}
