package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"labshelf/verify/e2e"
)

// senders is the number of parallel uploads: the default of "labshelf put --parallel", and the
// number of curl processes.
const senders = 8

// putting holds the files to send. They are on the measured disk.
type putting struct {
	*bench
	folder string            // folder of the files
	sums   map[string]string // the SHA-256 of each file, by its path in the folder
}

// sending runs a program that sends all files to a service, and returns the measured speed or
// memory.
type sending func(ctx context.Context, p *putting, s *subject) (float64, error)

// put measures "labshelf put" of many small files and of a large one, compared with a curl process
// for each file. For the large file it also measures the memory.
func (b *bench) put(ctx context.Context) (rows []row, err error) {
	p := &putting{bench: b}
	defer func() { err = errors.Join(err, p.remove()) }()
	_, noCurl := exec.LookPath("curl")
	if noCurl != nil {
		b.say("curl is not installed: the rows that compare put with it are skipped")
	}
	add := func(r row, ours, theirs sending) {
		if err == nil && (theirs == nil || noCurl == nil) {
			err = p.rounds(ctx, &r, ours, theirs)
			rows = append(rows, r)
		}
	}
	if err = p.fill("put-small", b.putFiles, smallFile); err != nil {
		return nil, err
	}
	add(row{what: fmt.Sprintf("put of %d files of 4 KiB", b.putFiles), unit: "files/s", reference: "curl, a process for each",
		targets: []target{ratioAtLeast(1)}}, byPut, byCurls)
	if err = errors.Join(err, p.fill("put-large", 1, b.putBody)); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("put of a file of %.3g GiB", float64(b.putBody)/(1<<30))
	add(row{what: what, unit: "MiB/s", reference: "curl, without a digest", targets: []target{ratioAtLeast(0.9)}}, inMiB(byPut), inMiB(byCurls))
	if !onLinux {
		b.say("only Linux reports the peak memory of another process: the row of put's memory is skipped")
		return rows, err
	}
	add(row{what: what + ", peak memory", unit: "MiB", worst: true, targets: []target{figureAtMost(64)}}, peakOfPut, nil)
	return rows, err
}

// rounds adds the results of ours to a row, and the results of theirs if it is not nil, in
// alternation.
func (p *putting) rounds(ctx context.Context, r *row, ours, theirs sending) error {
	for round := range p.plan.rounds {
		p.say("%s, round %d", r.what, round+1)
		var figures [2]float64
		for i, send := range []sending{ours, theirs} {
			if send == nil {
				continue
			}
			if err := p.atRest(ctx); err != nil {
				return err
			}
			var err error
			if figures[i], err = p.toNewService(ctx, send); err != nil {
				return err
			}
		}
		r.add(figures[0], figures[1])
	}
	return nil
}

func byPut(ctx context.Context, p *putting, s *subject) (perSecond float64, err error) {
	begin := time.Now()
	_, err = runToEnd(p.putCommand(ctx, s))
	return float64(len(p.sums)) / time.Since(begin).Seconds(), err
}

// inMiB wraps send, and converts its result from files/s to MiB/s.
func inMiB(send sending) sending {
	return func(ctx context.Context, p *putting, s *subject) (float64, error) {
		files, err := send(ctx, p, s)
		return files * float64(p.putBody) / (1 << 20), err
	}
}

func (p *putting) putCommand(ctx context.Context, s *subject) *exec.Cmd {
	return p.command(ctx, s, "put", p.folder, s.set, "--parallel", strconv.Itoa(senders))
}

// byCurls runs a curl process for each file, senders at a time. They send the same as put, except
// the digest.
func byCurls(ctx context.Context, p *putting, s *subject) (perSecond float64, err error) {
	names := slices.Sorted(maps.Keys(p.sums))
	begin := time.Now()
	err = parallel(senders, func(worker int) error {
		for i := worker; i < len(names); i += senders {
			path := filepath.Join(p.folder, filepath.FromSlash(names[i]))
			_, err := runToEnd(exec.CommandContext(ctx, "curl", "-sS", "--fail", "-o", os.DevNull, "-H", "Authorization: "+s.Key(),
				"-F", "setId="+s.set, "--form-string", "name="+names[i], "-F", `file=@"`+path+`"`, s.Base()+"/resources"))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return float64(len(names)) / time.Since(begin).Seconds(), err
}

// peakPoll is the interval of reading the memory of a process. The last value cannot be read,
// because it disappears with the process. wait4 does not help: its value includes the memory of
// this process, from which the child was forked.
const peakPoll = 20 * time.Millisecond

// peakOfPut returns the greatest resident memory of put, in MiB.
func peakOfPut(ctx context.Context, p *putting, s *subject) (peak float64, err error) {
	cmd := p.putCommand(ctx, s)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	poll := time.NewTicker(peakPoll)
	defer poll.Stop()
	for {
		select {
		case <-poll.C:
			now, err := memoryOf(cmd.Process.Pid, "VmHWM")
			if err == nil { // otherwise the process has just ended
				peak = max(peak, now)
			}
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("put: %w\n%s", err, stderr.Bytes())
			}
			return peak, err
		}
	}
}

// command returns a labshelf command that is a client of a service.
func (b *bench) command(ctx context.Context, s *subject, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Env = append(e2e.Environment(), "LABSHELF_SERVER="+s.Base(), "LABSHELF_KEY="+s.Key())
	return cmd
}

// runToEnd runs a program to its end, and returns its standard output.
func runToEnd(cmd *exec.Cmd) (output []byte, err error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if output, err = cmd.Output(); err != nil {
		err = fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, stderr.Bytes())
	}
	return output, err
}

// fill replaces the folder by a new one with the given number of files, all of them different. Each
// subfolder has a hundred files.
func (p *putting) fill(name string, files int, size int64) error {
	if err := p.remove(); err != nil {
		return err
	}
	p.folder, p.sums = filepath.Join(p.bench.folder, name), map[string]string{}
	for i := range files {
		within := filepath.Join(strconv.Itoa(i/100), filenameOf(p.number()))
		path := filepath.Join(p.folder, within)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		sum, err := writeBody(path, size, files, p.number())
		if err != nil {
			return err
		}
		p.sums[filepath.ToSlash(within)] = sum
	}
	return nil
}

func (p *putting) remove() error {
	if p.folder == "" {
		return nil
	}
	return os.RemoveAll(p.folder)
}

// writeBody writes a file of size bytes and returns its SHA-256. If there are several files, the
// content depends on n.
func writeBody(path string, size int64, files int, n uint64) (digest string, err error) {
	if files > 1 {
		made := body(int(size), n)
		return digestOf(made), os.WriteFile(path, made, 0o600)
	}
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	err = newLarge(size).send(file)
	return newLarge(size).digest(sha256.New()), errors.Join(err, file.Sync(), file.Close())
}

// toNewService runs send with a new service, and checks that all files have arrived. It removes the
// service's data afterwards.
func (p *putting) toNewService(ctx context.Context, send sending) (figure float64, err error) {
	var open closers
	defer open.close(&err)
	open.later(func() error { return os.RemoveAll(filepath.Join(p.bench.folder, "put")) })
	service, err := p.start(ctx, &open, "put")
	if err != nil {
		return 0, err
	}
	if figure, err = send(ctx, p, service); err != nil {
		return 0, err
	}
	return figure, p.arrived(ctx, service)
}

// arrived returns an error unless the set of the service contains exactly the sent files. It waits
// until the service has written them to files, so that this work is not included in the next
// measurement.
func (p *putting) arrived(ctx context.Context, s *subject) error {
	got := map[string]string{}
	_, err := s.Walk(ctx, "/sets/"+s.set+"/resources?limit=1000", func(page e2e.Page) error {
		for _, r := range page.Data {
			if _, twice := got[r.Name]; twice {
				return fmt.Errorf("%s appears twice", r.Name)
			}
			got[r.Name] = r.SHA256
		}
		return nil
	})
	if err == nil && !maps.Equal(got, p.sums) {
		err = fmt.Errorf("got %d files that differ from the %d sent files", len(got), len(p.sums))
	}
	if err == nil {
		_, err = waitForFiles(ctx, s.data, len(p.sums))
	}
	return err
}
