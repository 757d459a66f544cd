// Package child reads headers and sidecars in a separate process. It runs the current program with
// a hidden command. The process has the file as its standard input, no other files and no
// environment. Its time, processor time, memory and answer are limited. Its answer is validated
// again. A file that crashes the process harms nothing else.
//
// On Linux the kernel enforces the limits (rlimits). The process has the lowest priority, and ends
// with its parent, however that ends. On other systems a process that outlives its parent ends when
// its time is over, and monitors its own memory.
package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strings"
	"time"

	"labshelf/formats/descriptive"
	"labshelf/formats/extraction"
)

// Command is the first argument with which the program runs as a child.
const Command = "read-properties"

const (
	maxTime   = 10 * time.Second // of a child, and as much processor time
	maxMemory = 512 << 20        // bytes of address space in addition to those at its start
	maxAnswer = descriptive.MaxBytes + 4096
)

// Runner starts children. It is safe for concurrent use.
type Runner struct {
	program string
	MaxTime time.Duration // of a child; New sets 10 seconds
}

// New returns a Runner for the running program.
func New() (*Runner, error) {
	const self = "/proc/self/exe" // remains the running program even if its file is replaced
	if _, err := os.Stat(self); err == nil {
		return &Runner{self, maxTime}, nil
	}
	program, err := os.Executable()
	return &Runner{program, maxTime}, err
}

// Read reads the properties in a file: its own properties with descriptive.FromHeader, the
// properties of another file with descriptive.FromSidecar. A child reads a file of the operating
// system directly; other content is written to the child. ErrFormat of package extraction means
// that reading this file again is useless: the file is malformed, or a child crashed on it or
// reached its limits. ErrUnread means that the file could not be read. Any other error is
// independent of the file.
func (r *Runner) Read(ctx context.Context, from, name string, file io.Reader) (extraction.Result, error) {
	bounded, cancel := context.WithTimeout(ctx, r.MaxTime)
	defer cancel()
	answer, said := bounds{room: maxAnswer}, bounds{room: 16 << 10}
	cmd := exec.CommandContext(bounded, r.program, Command, from, "file"+extensionOf(name))
	cmd.Args[0] = "labshelf"
	cmd.Env = []string{"GOMAXPROCS=1", "GOMEMLIMIT=128MiB", "GOTRACEBACK=none"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, &answer, &said
	cmd.WaitDelay = time.Second
	separate(cmd)
	runtime.LockOSThread() // a child ends with the thread that started it
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return extraction.Result{}, fmt.Errorf("start a child: %w", err)
	}
	err := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return extraction.Result{}, ctx.Err()
	case bounded.Err() != nil:
		return extraction.Result{}, failed("took more than %v", r.MaxTime)
	case answer.over:
		return extraction.Result{}, failed("the answer is too long")
	case err != nil:
		first, _, _ := strings.Cut(string(said.text), "\n")
		return extraction.Result{}, failed("%v: %q", err, first)
	}
	return parse(answer.text)
}

func failed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", extraction.ErrFormat, fmt.Sprintf(format, args...))
}

// extensionOf returns the part of a file's name that a child needs. The name stays in this process,
// since every user of a machine can see the arguments of processes.
func extensionOf(name string) string {
	extension := path.Ext(name)
	if strings.EqualFold(extension, ".gz") {
		extension = path.Ext(strings.TrimSuffix(name, extension)) + extension
	}
	for _, char := range extension {
		if len(extension) > 20 || char != '.' && (char < '0' || char > 'z') {
			return ""
		}
	}
	return strings.ToLower(extension)
}

// bounds keeps the text that is written, up to a limit.
type bounds struct {
	text []byte
	room int
	over bool
}

func (b *bounds) Write(p []byte) (int, error) {
	if b.over = b.over || len(b.text)+len(p) > b.room; b.over {
		return 0, errors.New("too much")
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// answer is the output of a child.
type answer struct {
	Properties json.RawMessage `json:"properties,omitempty"`
	Left       int             `json:"left,omitempty"`
	Error      string          `json:"error,omitempty"`  // reason for an answer without properties
	Unread     bool            `json:"unread,omitempty"` // the error occurred while reading the file
}

// parse parses the output of a child. A hostile file may have influenced it.
func parse(text []byte) (r extraction.Result, err error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return r, failed("the answer is not JSON: %v", err)
	}
	if a.Unread {
		return r, fmt.Errorf("%w: %s", extraction.ErrUnread, a.Error)
	}
	if a.Error != "" {
		return r, failed("%s", a.Error)
	}
	if a.Properties == nil {
		return extraction.Result{Left: a.Left}, nil
	}
	m, err := descriptive.Parse(append(append([]byte(`{"properties":`), a.Properties...), '}'))
	if err == nil {
		err = m.Validate(descriptive.Resource)
	}
	if err != nil || len(m.Properties) > extraction.MaxProperties {
		return r, failed("the answer has %d properties: %v", len(m.Properties), err)
	}
	return extraction.Result{Properties: m.Properties, Left: a.Left}, nil
}

// Main is the main function of the child. It reads the properties of the file, and writes an
// answer. args are the arguments that Read passes. It returns the exit code of the process.
func Main(args []string, in *os.File, out io.Writer) int {
	if len(args) != 2 {
		return 2
	}
	if err := limit(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	time.AfterFunc(maxTime, func() { os.Exit(1) }) // the parent may have ended
	var a answer
	result, err := read(args[0], args[1], in)
	if err != nil {
		a.Error, a.Unread = err.Error(), !errors.Is(err, extraction.ErrFormat)
	}
	if len(result.Properties) > 0 {
		text := descriptive.Metadata{Properties: result.Properties}.Append(nil)
		a.Properties = text[len(`{"properties":`) : len(text)-1]
	}
	a.Left = result.Left
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(a); err != nil {
		return 1
	}
	return 0
}

// maxPiped bounds the bytes that are read from a pipe.
const maxPiped = 16 << 20

func read(from, name string, in *os.File) (extraction.Result, error) {
	if from == descriptive.FromSidecar {
		text, err := io.ReadAll(io.LimitReader(in, extraction.MaxSidecar+1))
		if err != nil {
			return extraction.Result{}, err
		}
		return extraction.Sidecar(text)
	}
	info, err := in.Stat()
	if err != nil {
		return extraction.Result{}, err
	}
	if info.Mode().IsRegular() {
		return extraction.Header(in, info.Size(), name)
	}
	text, err := io.ReadAll(io.LimitReader(in, maxPiped))
	if err != nil {
		return extraction.Result{}, err
	}
	return extraction.Header(bytes.NewReader(text), int64(len(text)), name)
}
