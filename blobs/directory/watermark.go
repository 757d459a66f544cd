package directory

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The files in blobs/ that are not blobs. Each contains a short string of the caller.
const (
	watermarkFile = "watermark"       // the current watermark
	aheadFile     = "watermark.ahead" // a watermark that was set aside
	freshFile     = "watermark.new"   // a watermark that is being written, or the rest of an interrupted write
)

// maxWatermark is the maximum length of a watermark in bytes.
const maxWatermark = 4 << 10

// Watermark returns the watermark that SetWatermark wrote, and the one that AsideWatermark set
// aside. A missing watermark is nil.
func (d *Store) Watermark() (text, aside []byte, err error) {
	if text, err = d.readWatermark(watermarkFile); err != nil {
		return nil, nil, err
	}
	aside, err = d.readWatermark(aheadFile)
	return text, aside, err
}

func (d *Store) readWatermark(name string) ([]byte, error) {
	f, err := openToRead(filepath.Join(d.blobs, name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("read the watermark", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxWatermark+1))
	if err == nil && len(text) > maxWatermark {
		err = fmt.Errorf("%s has more than %d bytes", name, maxWatermark)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, failed("read the watermark", err)
	}
	return text, nil
}

// SetWatermark replaces the watermark. It syncs the new file before the rename, but not the rename:
// a power failure may restore the previous watermark. It must not be called concurrently. After an
// error ([blobs.ErrNoSpace], [blobs.ErrUnavailable], or another one) the previous watermark
// remains.
func (d *Store) SetWatermark(text []byte) error {
	fresh := filepath.Join(d.blobs, freshFile)
	f, err := d.fs.Create(fresh)
	if errors.Is(err, fs.ErrExist) {
		if err = d.fs.Remove(fresh); err == nil {
			f, err = d.fs.Create(fresh)
		}
	}
	if err != nil {
		return failed("write the watermark", err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.fs.Rename(fresh, filepath.Join(d.blobs, watermarkFile))
	}
	if err != nil {
		return failed("write the watermark", err) // the next call removes the rest of the file
	}
	return nil
}

// AsideWatermark renames the watermark to watermark.ahead, and replaces an earlier file of that
// name. The file stays until an operator removes it.
func (d *Store) AsideWatermark() error {
	if err := d.fs.Rename(filepath.Join(d.blobs, watermarkFile), filepath.Join(d.blobs, aheadFile)); err != nil {
		return failed("set the watermark aside", err)
	}
	return nil
}

// isWatermark reports whether an entry of blobs/ is one of these files, which are expected there.
func isWatermark(info os.FileInfo) bool {
	switch info.Name() {
	case watermarkFile, aheadFile, freshFile:
		return info.Mode().IsRegular()
	}
	return false
}
