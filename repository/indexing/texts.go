package indexing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/content"
)

const (
	// MaxText is the number of bytes at the beginning of a file that are searched.
	MaxText = 64 << 10
	// maxNotebook is the maximum size in bytes of a notebook that is read. Notebooks are read
	// whole, since their images may come first.
	maxNotebook = 4 << 20

	maxTexts     = 256     // maximum files that one step reads
	maxTextBytes = 2 << 20 // approximate bytes of them together

	maxUnread  = 1000        // maximum unreadable files that are tried again
	healEvery  = time.Second // minimum interval while there are changes
	healAtRest = time.Minute // interval without changes
)

// readTexts reads the texts of the next files whose records are in the index. more reports whether
// others may follow.
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

// applyWithTexts is apply, but first reads the texts of files whose documents are in the batch.
func (x *Indexing) applyWithTexts(ctx context.Context, b batch, bodies []body) (err error) {
	idle := map[int]bool{} // changes whose documents the index already has
	for _, body := range bodies {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := b.changes[body.change].Document
		if d.Body, d.Content, err = x.read(ctx, body); err != nil {
			return err
		}
		idle[body.change] = body.again && d.Body == "" && d.Content == ""
	}
	kept := b.changes[:0]
	for i, change := range b.changes {
		if !idle[i] {
			kept = append(kept, change)
		}
	}
	b.changes = kept
	return x.apply(b)
}

// readHealed reads the texts of files that could not be read before and exist now. It tries at most
// once in healEvery.
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

// damages returns the files recorded as damaged, at most maxUnread.
func damages(tx *metadata.Tx) (map[blobs.Digest]bool, error) {
	all := map[blobs.Digest]bool{}
	for damage, err := range tx.Damages.All(blobs.Digest{}) {
		if err != nil || len(all) == maxUnread {
			return all, err
		}
		all[damage.Digest] = true
	}
	return all, nil
}

// healed puts the resources whose files could not be read before and exist now.
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
			if r.Digest != digest || r.State != metadata.Active || !mayHaveText(r) {
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

// isThere reports whether the file of a blob exists.
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
	inline   []byte // nil for a blob
	again    bool   // the index has the document, without text and media type of the file
	damaged  bool   // recorded as damaged
}

// texts reads the records of the next files that may have a text.
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
		of.again = true
		bodies = append(bodies, of)
		b.at.text, b.at.textAfter = r.Modified, r.ID
	}
	if b.more = last != (metadata.Record{}); b.more {
		b.at.text, b.at.textAfter = last.Modified, last.ID
		return bodies, nil
	}
	b.at.text, b.at.textAfter = b.at.stamp, metadata.ID{}
	for i := range b.at.textAfter {
		b.at.textAfter[i] = 0xff // after every resource with that stamp
	}
	return bodies, nil
}

// withText returns the first files of a range that may have a text. last is the last record
// examined, or zero if no others follow.
func (b *batch) withText(within metadata.ResourceRange) (found []metadata.Resource, last metadata.Record, err error) {
	looked, length := 0, int64(0)
	for r, err := range b.tx.Resources.Range(within) {
		if err != nil {
			return nil, last, err
		}
		if looked++; looked > maxScanned || len(found) == maxTexts || length > maxTextBytes {
			return found, last, nil
		}
		if last = r.Record; mayHaveText(r) {
			found, length = append(found, r), length+min(r.Bytes, MaxText)
		}
	}
	return found, metadata.Record{}, nil
}

// prefetchTexts fetches the rows that the documents and bodies of these resources need.
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

// body returns the body of the file whose document is the last of the batch.
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

// notebook is the extension of Jupyter notebooks.
const notebook = ".ipynb"

// mayHaveText reports whether the bytes of a file decide if it is text. Its name and its media
// type do not.
func mayHaveText(r metadata.Resource) bool {
	return r.Bytes > 0 && r.Body != metadata.Purged
}

// read returns the text of a file, and its media type if that differs from its record. Both are ""
// for a file that is damaged or missing, which a check reports.
func (x *Indexing) read(ctx context.Context, of body) (text, media string, err error) {
	if of.inline != nil {
		return textOf(of.resource, bytes.NewReader(of.inline))
	}
	b, err := x.stores.Blob(ctx, of.resource)
	if err != nil {
		return "", "", err
	}
	file, err := x.stores.Open(ctx, b)
	if err == nil && of.damaged {
		err = errors.Join(blobs.ErrDamaged, file.Close())
	} else if err == nil {
		text, media, err = textOf(of.resource, file)
		if err = errors.Join(err, file.Close()); errors.Is(err, blobs.ErrDamaged) {
			_, _ = x.stores.Verify(ctx, b) // records the damage; if that fails, the next reader records it
		}
	}
	if errors.Is(err, blobs.ErrNotFound) || errors.Is(err, blobs.ErrDamaged) {
		if len(x.unread) < maxUnread {
			x.unread[of.resource.Digest] = true
		}
		return "", "", nil
	}
	return text, media, err
}

// textOf returns the searched text of a file, and its media type if that differs from its record.
// If the file does not begin like text, textOf reads only its first bytes.
func textOf(r metadata.Resource, file io.Reader) (text, media string, err error) {
	head := make([]byte, blobs.HeadSize)
	n, err := io.ReadFull(file, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", "", err
	}
	head = head[:n]
	if text, isText := content.Text(head); !isText {
		return text, otherType(r, head, false), nil
	}
	isNotebook := strings.HasSuffix(strings.ToLower(r.Filename), notebook)
	most := int64(MaxText)
	if isNotebook {
		most = maxNotebook
	}
	raw, err := io.ReadAll(io.LimitReader(file, most-int64(len(head))))
	if err != nil {
		return "", "", err
	}
	if raw = append(head, raw...); isNotebook {
		raw = cells(raw)
	}
	text, isText := content.Text(raw)
	return text, otherType(r, head, isText), nil
}

// otherType returns the media type detected from the bytes and the name of a file, if it is more
// specific than the recorded one.
func otherType(r metadata.Resource, head []byte, isText bool) string {
	found, _, _ := strings.Cut(content.Detect(head, r.Filename, r.Name), ";")
	if isText && found == "application/octet-stream" {
		found = "text/plain"
	}
	recorded, _, _ := strings.Cut(r.MimeType, ";")
	if strings.EqualFold(strings.TrimSpace(recorded), found) || !isText && content.IsVague(found) {
		return ""
	}
	return found
}

// cells returns the cells of a notebook, without their output. If raw is not a notebook, cells
// returns its beginning.
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
