package get

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"labshelf/cli/client/fetch"
	"labshelf/cli/client/reference"
	"labshelf/cli/client/report"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/meter"
	"labshelf/client"
)

// sniffed is how many bytes of a file are inspected before they go to a terminal.
const sniffed = 8 << 10

// Cat writes the file of the resource that ref names to o.Out, in a version or, with 0, the current
// one. After an error the written bytes must not be used.
func Cat(ctx context.Context, c *client.Client, o report.Output, ref string, version int64) (err error) {
	r, err := reference.FindResource(ctx, c, ref, client.Active)
	if err != nil {
		return err
	}
	file, err := fetch.File{ID: r.ID, Version: version}.Open(ctx, c, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var body io.Reader = file
	m := &meter.Meter{}
	if display.Width(o.Out) == display.Unlimited { // a progress bar and a file would mix on one terminal
		m = o.NewMeter("cat")
		m.Expect(1, file.Total)
		defer m.Close()
	} else if body, err = textOf(file, r); err != nil {
		return err
	}
	if _, err := io.Copy(metered{o.Out, m}, body); err != nil {
		return fmt.Errorf("%w; do not use the written part of %s", err, display.Printable(r.Name))
	}
	return nil
}

// textOf returns the file for a terminal, and rejects a file that is not text.
func textOf(file io.Reader, r client.Resource) (io.Reader, error) {
	buffered := bufio.NewReaderSize(file, sniffed)
	begin, err := buffered.Peek(sniffed)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.IndexByte(begin, 0) >= 0 {
		return nil, exit.Usagef("%s is not text; write it to a file: labshelf cat %s > FILE", display.Printable(r.Name), display.Printable(r.ID))
	}
	return buffered, nil
}

// metered counts the written bytes.
type metered struct {
	io.Writer
	m *meter.Meter
}

func (w metered) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.m.Moved(int64(n))
	return n, err
}
