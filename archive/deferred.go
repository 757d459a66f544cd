package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"time"
)

// deferredEntry is an entry whose content is collected, compressed in memory, while others are written: some 100 MB for a list of a
// million files.
type deferredEntry struct {
	deflated bytes.Buffer
	deflater *flate.Writer
}

func newDeferredEntry() *deferredEntry {
	g := &deferredEntry{}
	g.deflater = newDeflater(&g.deflated, flate.BestSpeed)
	return g
}

func (g *deferredEntry) add(format string, args ...any) {
	_, _ = fmt.Fprintf(g.deflater, format, args...) // into memory
}

// writeTo writes the entry.
func (g *deferredEntry) writeTo(to *zip.Writer, path string, modified time.Time) error {
	if err := g.deflater.Close(); err != nil {
		return err
	}
	entry, err := to.CreateHeader(header(path, modified))
	if err == nil {
		_, err = io.Copy(entry, flate.NewReader(&g.deflated))
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
