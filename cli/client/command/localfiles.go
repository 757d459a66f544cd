package command

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"labshelf/cli/exit"
)

// ReadJSON reads the JSON file of a flag, without a byte order mark. Without a path it returns no
// text.
func (p Process) ReadJSON(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	text, err := p.ReadUpTo(path, 1<<20)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// ReadUpTo reads a file, or standard input for "-". most is the limit of the service in bytes.
func (p Process) ReadUpTo(path string, most int) ([]byte, error) {
	from := p.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // only read
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
	if err == nil && len(text) > most {
		err = exit.Usagef("%s has more than %d bytes", path, most)
	}
	return text, err
}

// ReplaceFile gives a file the content that write writes, or leaves it unchanged.
func ReplaceFile(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".labshelf-*") // CreateTemp sets mode 0600
	if err != nil {
		return err
	}
	err = write(file)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}
