package commands

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"labshelf/client"
)

// sniffed is how many bytes of a file are looked at before a terminal gets them.
const sniffed = 8 << 10

func catCommand(p Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cat RESOURCE...",
		Short: "Write files to standard output",
		Long: `cat writes the file of a resource to standard output, or those of several, one
after the other. Their SHA-256 is compared on the way: where it is wrong, or the
file breaks off, cat fails, and what was written is no good. A terminal gets
text only. "labshelf get" keeps files, and goes on with what was begun.

RESOURCE is an id, a URL or SET:NAME; see "labshelf help references".`,
		Example: `  labshelf cat runs-2026:2026/11/run-1.csv | head
  labshelf cat runs-2026:picture.png > picture.png`,
		Args: atLeast(1, "one or more resources, such as runs-2026:run-1.csv"),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		for _, ref := range args { // what comes after a gap is of no use
			if err := p.cat(ctx, c, ref); err != nil {
				return err
			}
		}
		return nil
	})
	return p.completes(cmd, true, resourcesIn(client.Active))
}

func (p Process) cat(ctx context.Context, c *client.Client, ref string) (err error) {
	r, err := findResource(ctx, c, ref)
	if err != nil {
		return err
	}
	file, err := c.Data(ctx, r.ID, 0, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var body io.Reader = file
	m := &Meter{}
	if widthOf(p.Out) == unlimited { // a bar and a file on one terminal would be in each other's way
		m = p.newMeter("cat")
		m.expect(1, file.Total)
		defer m.Close()
	} else if body, err = textOf(file, r); err != nil {
		return err
	}
	if _, err := io.Copy(metered{p.Out, m}, body); err != nil {
		return fmt.Errorf("%w; what was written of %s is no good", err, printable(r.Name))
	}
	return nil
}

// textOf is the file of a resource for a terminal, which anything but text would confuse.
func textOf(file io.Reader, r client.Resource) (io.Reader, error) {
	buffered := bufio.NewReaderSize(file, sniffed)
	begin, err := buffered.Peek(sniffed)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.IndexByte(begin, 0) >= 0 {
		return nil, usagef("%s is no text; write it into a file: labshelf cat %s > FILE", printable(r.Name), printable(r.ID))
	}
	return buffered, nil
}

// metered tells a meter of what is written.
type metered struct {
	io.Writer
	m *Meter
}

func (w metered) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.m.moved(int64(n))
	return n, err
}
