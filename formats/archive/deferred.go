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

// deferredEntry is an entry whose content is collected, compressed in memory, while other entries
// are written. It needs some 100 MB for a list of a million files.
type deferredEntry struct {
	plain    bytes.Buffer // content before compression
	deflated bytes.Buffer
	deflater *flate.Writer // nil: the content is still small
}

// deferredPlain is the number of bytes that stay uncompressed. A deflater needs more than ten times
// as much memory, and a slow client occupies it for the whole download. Most archives have few
// files and need no deflater.
const deferredPlain = 64 << 10

func (g *deferredEntry) add(format string, args ...any) {
	_, _ = fmt.Fprintf(&g.plain, format, args...) // writes to memory
	if g.plain.Len() < deferredPlain {
		return
	}
	if g.deflater == nil {
		g.deflater = newDeflater(&g.deflated, flate.BestSpeed)
	}
	_, _ = g.plain.WriteTo(g.deflater) // writes to memory
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

// newDeflater returns a writer of a valid level: BestSpeed, since networks are slower than disks
// but not slower than good compression, or NoCompression, which copies.
func newDeflater(to io.Writer, level int) *flate.Writer {
	deflater, err := flate.NewWriter(to, level)
	if err != nil {
		panic(err) // the level is valid
	}
	return deflater
}
