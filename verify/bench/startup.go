package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// startup measures the time from the start of the process to its first answer, compared with a
// minimal server in Go. It also measures the memory of an idle service.
func (b *bench) startup(ctx context.Context) (rows []row, err error) {
	var made closers
	first, err := b.start(ctx, &made, "started")
	made.close(&err)
	if err != nil {
		return nil, err
	}
	plain, err := b.buildPlain(ctx)
	if err != nil {
		return nil, err
	}
	s := &starts{bench: b, plain: plain, data: first.data, key: first.Key()}
	const reference = "an empty Go server"
	old := row{what: "start to first answer", unit: "ms", reference: reference, targets: []target{differenceAtMost(5)}}
	fresh := row{what: "start to first answer, new repository", unit: "ms", reference: reference, targets: []target{differenceAtMost(40)}}
	memory := row{what: "idle, anonymous memory", unit: "MiB", reference: reference, worst: true, targets: []target{figureAtMost(6)}}
	for round := range b.rounds {
		b.say("starts, round %d", round+1)
		times, err := s.times(ctx, s.old, s.fresh, s.empty)
		if err != nil {
			return nil, err
		}
		old.add(times[0], times[2])
		fresh.add(times[1], times[2])
		if !onLinux {
			continue
		}
		var found [2]float64
		for i, l := range []launch{s.old(), s.empty()} {
			if _, found[i], err = s.launch(ctx, l, s.idle); err != nil {
				return nil, err
			}
		}
		memory.add(found[0], found[1])
	}
	if !onLinux {
		b.say("only Linux reports the memory of another process: the row of the idle memory is skipped")
		return []row{old, fresh}, nil
	}
	return []row{old, fresh, memory}, nil
}

// starts holds the programs to start.
type starts struct {
	*bench
	plain, data, key string
	made             int // number of new repositories
}

// launch is one start of a program.
type launch struct {
	program string
	args    []string
	key     string
	path    string // requested with GET
	remove  string // a folder to remove afterwards
}

// times starts the programs repeatedly, in turn, and returns the median time to the first answer of
// each program, in ms.
func (s *starts) times(ctx context.Context, programs ...func() launch) ([]float64, error) {
	all := make([][]float64, len(programs))
	for i := range s.starts * len(programs) {
		program := i % len(programs)
		took, _, err := s.launch(ctx, programs[program](), 0)
		if err != nil {
			return nil, err
		}
		all[program] = append(all[program], took)
	}
	medians := make([]float64, len(programs))
	for i, times := range all {
		medians[i] = median(times)
	}
	return medians, nil
}

func (s *starts) old() launch { return s.serve(s.data) }

func (s *starts) fresh() launch {
	s.made++
	l := s.serve(filepath.Join(s.folder, fmt.Sprintf("fresh-%d", s.made)))
	l.remove = l.args[len(l.args)-1]
	return l
}

// serve returns a start of the service with a data directory. In a new directory, the first user
// gets the same key as in the old one.
func (s *starts) serve(data string) launch {
	return launch{program: s.program, key: s.key, path: "/v1/dataspaces", args: []string{"serve", "--log-format", "json", "--data", data}}
}

func (s *starts) empty() launch { return launch{program: s.plain, path: "/"} }

// launch starts a program and returns the time to its first answer in ms. If idle is not 0, it also
// returns the anonymous memory after that time, in MiB. Then it stops the program.
func (s *starts) launch(ctx context.Context, l launch, idle time.Duration) (took, memory float64, err error) {
	address, err := freeAddress()
	if err != nil {
		return 0, 0, err
	}
	args := []string{address}
	if len(l.args) > 0 {
		args = slices.Concat(l.args, []string{"--listen", address})
	}
	cmd := exec.CommandContext(ctx, l.program, args...)
	cmd.Env = []string{"LABSHELF_ADMIN_KEY=" + l.key}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		err = errors.Join(err, stop(cmd))
		if l.remove != "" {
			err = errors.Join(err, os.RemoveAll(l.remove))
		}
	}()
	if err := firstAnswer(ctx, peer{address: address, key: l.key}, l.path); err != nil {
		return 0, 0, err
	}
	took = milliseconds(time.Since(begin))
	if idle == 0 {
		return took, 0, nil
	}
	time.Sleep(idle)
	memory, err = memoryOf(cmd.Process.Pid, "RssAnon")
	return took, memory, err
}

// firstAnswer repeats a request until a server answers it.
func firstAnswer(ctx context.Context, p peer, path string) error {
	for begin := time.Now(); ; time.Sleep(100 * time.Microsecond) {
		w, err := dial(ctx, p)
		if err == nil {
			_, err = w.want(200, p.get(path))
			w.close()
			return err
		}
		if ctx.Err() != nil || time.Since(begin) > startLimit {
			return fmt.Errorf("no answer: %w", err)
		}
	}
}
