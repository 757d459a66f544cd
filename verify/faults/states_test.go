package faults

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"labshelf/verify/faults/crash"
	"labshelf/verify/faults/script"
)

// states opens possible contents of a disk after a power cut during the script. It takes as many
// states as the size of the row, evenly distributed over all states of package crash. Separate
// processes inspect the states, because they may crash.
func states(ctx context.Context, t *trial) error {
	return t.onScript(ctx, func(g *golden) error {
		choices, err := g.Choices(t.seed)
		if err != nil {
			return err
		}
		t.log("%s: the recording has %d states", t.name, len(choices))
		t.add("violations", 0)
		recording := filepath.Join(t.dir, "recording")
		if err := g.save(recording); err != nil {
			return err
		}
		inspectors := make(chan *inspector, workers)
		for n := range workers {
			inspectors <- &inspector{recording: recording, dir: filepath.Join(t.dir, fmt.Sprint("inspector-", n))}
		}
		err = t.together(ctx, t.size, func(unit int) error {
			choice := choices[t.spread(unit, len(choices))]
			if unit >= len(choices) { // more units than listed states
				choice.Keep, choice.Seed = crash.KeepSome, t.random(unit).Uint64()
			}
			i := <-inspectors
			defer func() { inspectors <- i }()
			return i.inspect(ctx, choice)
		})
		for range workers {
			err = errors.Join(err, (<-inspectors).end())
		}
		return err
	})
}

func (g *golden) save(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(gob.NewEncoder(file).Encode(g), file.Close())
}

func loadGolden(path string) (g *golden, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	g = &golden{}
	return g, errors.Join(gob.NewDecoder(file).Decode(g), file.Close())
}

// inspector is a process that inspects states, one after the other. It is started on demand.
type inspector struct {
	recording, dir string
	cmd            *exec.Cmd
	in             io.WriteCloser
	out            *bufio.Reader
	stderr         bytes.Buffer
}

// finding is the result of inspecting a state.
type finding struct {
	Wrong []string
	Error string
}

const childInspect = "child-inspect"

func (i *inspector) start(ctx context.Context) (err error) {
	if err := errors.Join(os.RemoveAll(i.dir), os.MkdirAll(i.dir, 0o700)); err != nil {
		return err
	}
	if i.cmd, err = childCommand(ctx, childInspect, i.recording, i.dir); err != nil {
		return err
	}
	i.stderr.Reset()
	i.cmd.Stderr = &i.stderr
	in, opening := i.cmd.StdinPipe()
	out, failed := i.cmd.StdoutPipe()
	if err := errors.Join(opening, failed); err != nil {
		return err
	}
	i.in, i.out = in, bufio.NewReader(out)
	return i.cmd.Start()
}

// inspect sends a state to the process. A crash of the process is a violation.
func (i *inspector) inspect(ctx context.Context, choice crash.Choice) error {
	if i.cmd == nil {
		if err := i.start(ctx); err != nil {
			return err
		}
	}
	var f finding
	err := json.NewEncoder(i.in).Encode(choice)
	if err == nil {
		var line []byte
		if line, err = i.out.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &f)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		ended := errors.Join(i.end(), err)
		return violated(nil, "state %s: the process that opens it crashes: %w\n%s", choice, ended, &i.stderr)
	case f.Error != "":
		return fmt.Errorf("state %s: %s", choice, f.Error)
	case len(f.Wrong) > 0:
		return violated(nil, "state %s of %s:\n  %s", choice, i.recording, strings.Join(f.Wrong, "\n  "))
	}
	return nil
}

func (i *inspector) end() error {
	if i.cmd == nil {
		return nil
	}
	cmd := i.cmd
	i.cmd = nil
	return errors.Join(i.in.Close(), cmd.Wait())
}

// inspectChild reads states as JSON from standard input and answers each with a finding.
func inspectChild(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	g, err := loadGolden(args[0])
	if err != nil {
		return childEnd(stderr, err)
	}
	asked, answers := json.NewDecoder(os.Stdin), json.NewEncoder(stdout)
	for {
		var choice crash.Choice
		if err := asked.Decode(&choice); errors.Is(err, io.EOF) {
			return 0
		} else if err != nil {
			return childEnd(stderr, err)
		}
		var f finding
		if f.Wrong, err = g.inspectState(ctx, args[1], choice); err != nil {
			f.Error = err.Error()
		}
		if err := answers.Encode(f); err != nil {
			return childEnd(stderr, err)
		}
	}
}

// inspectState builds a state in a new directory, which remains if the state has a problem.
func (g *golden) inspectState(ctx context.Context, dir string, choice crash.Choice) (wrong []string, err error) {
	dir = filepath.Join(dir, strings.ReplaceAll(choice.String(), ":", "-"))
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), g.Build(choice, dir)); err != nil {
		return nil, err
	}
	a := acks{count: g.Acked(choice.Calls)}
	if a.count > 0 {
		a.state = g.States[a.count-1]
	}
	if wrong, err = script.Verify(ctx, dir, g.expect(a)); err != nil || len(wrong) > 0 {
		return wrong, err
	}
	return nil, os.RemoveAll(dir)
}
