package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"time"
)

// deferredEntry is an entry whose content is collected, compressed in memory, while others are
// written: some 100 MB for a list of a million files.
type deferredEntry struct {
	plain    bytes.Buffer // what is not yet compressed
	deflated bytes.Buffer
	deflater *flate.Writer // nil: there has been too little
}

// deferredPlain is how many bytes are kept as they are. A deflater takes more than ten times as
// much memory, and a slow reader holds it for as long as the archive takes: most archives have
// few files, and need none.
const deferredPlain = 64 << 10

func (g *deferredEntry) add(format string, args ...any) {
	_, _ = fmt.Fprintf(&g.plain, format, args...) // into memory
	if g.plain.Len() < deferredPlain {
		return
	}
	if g.deflater == nil {
		g.deflater = newDeflater(&g.deflated, flate.BestSpeed)
	}
	_, _ = g.plain.WriteTo(g.deflater) // into memory
}

// writeTo writes the entry.
func (g *deferredEntry) writeTo(to *zip.Writer, path string, modified time.Time) error {
	entry, err := to.CreateHeader(header(path, modified))
	if g.deflater != nil {
		err = errors.Join(err, g.deflater.Close())
		if err == nil {
			_, err = io.Copy(entry, flate.NewReader(&g.deflated))
		}
	}
	if err == nil {
		_, err = g.plain.WriteTo(entry)
	}
	return err
}

// newDeflater returns a writer of a known level: BestSpeed, since a network is slower than a disk
// but not much slower than a good compression, or NoCompression, which copies.
func newDeflater(to io.Writer, level int) *flate.Writer {
	deflater, err := flate.NewWriter(to, level)
	if err != nil {
		panic(err) // the level is known
	}
	return deflater
}
