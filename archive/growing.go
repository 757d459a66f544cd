package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"time"
)

// growing is an entry that grows while others are written, compressed in memory: of a list of a million files some 100 MB are left.
type growing struct {
	deflated bytes.Buffer
	deflater *flate.Writer
}

func newGrowing() *growing {
	g := &growing{}
	g.deflater = newDeflater(&g.deflated)
	return g
}

func (g *growing) add(format string, args ...any) {
	_, _ = fmt.Fprintf(g.deflater, format, args...) // into memory
}

// put writes the entry.
func (g *growing) put(to *zip.Writer, path string, modified time.Time) error {
	if err := g.deflater.Close(); err != nil {
		return err
	}
	entry, err := to.CreateHeader(header(path, false, modified))
	if err == nil {
		_, err = io.Copy(entry, flate.NewReader(&g.deflated))
	}
	return err
}

// newDeflater is the quickest: a line is slower than a disk, but not much slower than a processor that deflates well.
func newDeflater(to io.Writer) *flate.Writer {
	deflater, err := flate.NewWriter(to, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is known
	}
	return deflater
}
