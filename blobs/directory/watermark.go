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

// The files in blobs/ that are no blobs. Each is a short text of the caller's.
const (
	watermarkFile = "watermark"       // of the present
	aheadFile     = "watermark.ahead" // that was set aside
	freshFile     = "watermark.new"   // one that is being written, or what an interruption left of it
)

// maxWatermark is the length of the longest text, in bytes.
const maxWatermark = 4 << 10

// Watermark returns the text that SetWatermark has written, and the one that AsideWatermark has set
// aside; nil where there is none.
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

// SetWatermark replaces the text, which is synced before it gets its name. The name is not: a power
// cut may bring back the previous text. It is not to be called concurrently. After an error
// ([blobs.ErrNoSpace], [blobs.ErrUnavailable], or another one) the previous text is there.
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
		return failed("write the watermark", err) // the next one removes what is left
	}
	return nil
}

// AsideWatermark sets the text aside, replacing one that was set aside before. It stays until the
// file is removed by hand.
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
