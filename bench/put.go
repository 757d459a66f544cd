package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/e2e"
)

// senders is how many files are sent at once, by "labshelf put" as it is and by as many curls.
const senders = 4

// errNoCurl: there is no curl on this machine.
var errNoCurl = errors.New("curl is not installed")

// putting is what is sent, from files on the disk that is measured.
type putting struct {
	*bench
	curl   string            // the program
	folder string            // of what is sent
	sums   map[string]string // the SHA-256 of each file, by its path in the folder
}

// sending lets a program send all files to a service.
type sending func(ctx context.Context, p *putting, s *subject) (sentBy, error)

// sentBy is how a program sent the files: how long that took and, on Linux, the resident memory at its greatest, in MiB.
type sentBy struct {
	took time.Duration
	peak float64
}

// put measures "labshelf put" with many small files and with a large one, beside a curl for each file.
func (b *bench) put(ctx context.Context) ([]row, error) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		b.say("%v: the rows of put are left out", errNoCurl)
		return nil, nil
	}
	p := &putting{bench: b, curl: curl}
	small, err := p.small(ctx)
	if err != nil {
		return nil, err
	}
	large, err := p.large(ctx)
	return append(small, large...), err
}

func (p *putting) small(ctx context.Context) (rows []row, err error) {
	if err := p.fill("put-small", p.putFiles, smallFile); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.folder)) }()
	what := fmt.Sprintf("put of %d files of 4 KiB", p.putFiles)
	first := row{what: what, unit: "files/s", beside: "curl, a process for each", targets: []target{ratioAtLeast(1)}}
	again := row{what: what + ", again, where nothing is sent", unit: "files/s", beside: "the first time"}
	perSecond := func(s sentBy) float64 { return float64(p.putFiles) / s.took.Seconds() }
	for round := range p.rounds {
		p.say("%s, round %d", what, round+1)
		ours, err := p.to(ctx, "put-ours", byPut, byPut)
		if err != nil {
			return nil, err
		}
		theirs, err := p.to(ctx, "put-theirs", byCurls)
		if err != nil {
			return nil, err
		}
		first.add(perSecond(ours[0]), perSecond(theirs[0]))
		again.add(perSecond(ours[1]), perSecond(ours[0]))
	}
	return []row{first, again}, nil
}

func (p *putting) large(ctx context.Context) (rows []row, err error) {
	if err := p.fill("put-large", 1, p.putBody); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.folder)) }()
	what := fmt.Sprintf("put of a file of %.3g GiB", float64(p.putBody)/(1<<30))
	speed := row{what: what, unit: "MiB/s", beside: "curl, which does not hash it"}
	peak := row{what: what + ", peak memory", unit: "MiB", beside: "curl", worst: true, targets: []target{figureAtMost(64)}}
	for round := range p.rounds {
		p.say("%s, round %d", what, round+1)
		ours, err := p.to(ctx, "put-ours", byPut)
		if err != nil {
			return nil, err
		}
		theirs, err := p.to(ctx, "put-theirs", byCurls)
		if err != nil {
			return nil, err
		}
		perSecond := func(s sentBy) float64 { return float64(p.putBody) / mib / s.took.Seconds() }
		speed.add(perSecond(ours[0]), perSecond(theirs[0]))
		peak.add(ours[0].peak, theirs[0].peak)
	}
	if !onLinux {
		p.say("only Linux tells the peak of another process: the row of the memory is left out")
		return []row{speed}, nil
	}
	return []row{speed, peak}, nil
}

// fill makes a folder of so many files that are all different, a hundred in each of its folders.
func (p *putting) fill(name string, files int, size int64) error {
	p.folder, p.sums = filepath.Join(p.bench.folder, name), map[string]string{}
	for i := range files {
		within := filepath.Join(strconv.Itoa(i/100), filenameOf(p.number()))
		path := filepath.Join(p.folder, within)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		sum, err := writeBody(path, size, p.number())
		if err != nil {
			return err
		}
		p.sums[filepath.ToSlash(within)] = sum
	}
	return nil
}

// writeBody writes a file of a size unlike that of another number, and returns its SHA-256.
func writeBody(path string, size int64, n uint64) (digest string, err error) {
	if size < blockSize {
		made := body(int(size), n)
		sum := sha256.Sum256(made)
		return hex.EncodeToString(sum[:]), os.WriteFile(path, made, 0o600)
	}
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	err = newLarge(size).send(file)
	return newLarge(size).digest(sha256.New()), errors.Join(err, file.Sync(), file.Close())
}

// to lets programs send the files one after the other to a new service, whose data are removed afterwards, and sees that all of it
// has arrived.
func (p *putting) to(ctx context.Context, name string, send ...sending) (did []sentBy, err error) {
	var open closers
	defer open.close(&err)
	open.later(func() error { return os.RemoveAll(filepath.Join(p.bench.folder, name)) })
	service, err := p.start(ctx, &open, name)
	if err != nil {
		return nil, err
	}
	for _, one := range send {
		sent, err := one(ctx, p, service)
		if err != nil {
			return nil, err
		}
		did = append(did, sent)
		if err := p.arrived(ctx, service); err != nil {
			return nil, err
		}
	}
	return did, nil
}

// arrived returns an error unless the set of the service has exactly the files, and waits until they are files there, so that this
// work does not fall into the time of what comes next.
func (p *putting) arrived(ctx context.Context, s *subject) error {
	got := map[string]string{}
	_, err := s.Walk(ctx, "/sets/"+s.set+"/resources?limit=1000", func(page e2e.Page) error {
		for _, r := range page.Data {
			if _, twice := got[r.Name]; twice {
				return fmt.Errorf("%s is there twice", r.Name)
			}
			got[r.Name] = r.SHA256
		}
		return nil
	})
	if err == nil && !maps.Equal(got, p.sums) {
		err = fmt.Errorf("%d files arrived, not the %d that were sent", len(got), len(p.sums))
	}
	if err == nil {
		_, err = settled(ctx, s.data, len(p.sums))
	}
	return err
}

func byPut(ctx context.Context, p *putting, s *subject) (sentBy, error) {
	cmd := exec.CommandContext(ctx, p.program, "put", p.folder, s.set, "--parallel", strconv.Itoa(senders))
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "LABSHELF_") })
	cmd.Env = append(cmd.Env, "LABSHELF_SERVER="+s.Base(), "LABSHELF_KEY="+s.Key())
	begin := time.Now()
	peak, err := ranWithPeak(cmd)
	return sentBy{time.Since(begin), peak}, err
}

// byCurls runs a curl for each file, several at a time, which send what put does but for the digest.
func byCurls(ctx context.Context, p *putting, s *subject) (sentBy, error) {
	names := slices.Sorted(maps.Keys(p.sums))
	peaks := make([]float64, senders)
	begin := time.Now()
	err := together(senders, func(hand int) error {
		for i := hand; i < len(names); i += senders {
			path := filepath.Join(p.folder, filepath.FromSlash(names[i]))
			cmd := exec.CommandContext(ctx, p.curl, "-sS", "--fail", "-o", os.DevNull, "-H", "Authorization: "+s.Key(),
				"-F", "setId="+s.set, "--form-string", "name="+names[i], "-F", `file=@"`+path+`"`, s.Base()+"/resources")
			peak, err := ranWithPeak(cmd)
			if err != nil {
				return err
			}
			peaks[hand] = max(peaks[hand], peak)
		}
		return nil
	})
	return sentBy{time.Since(begin), slices.Max(peaks)}, err
}

// peakStep is how often the memory of a process is looked at: it cannot be when the process has ended.
const peakStep = 20 * time.Millisecond

// ranWithPeak runs a program to its end and, on Linux, returns its resident memory at its greatest, in MiB.
func ranWithPeak(cmd *exec.Cmd) (peak float64, err error) {
	var told bytes.Buffer
	cmd.Stderr = &told
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	look := time.NewTicker(peakStep)
	defer look.Stop()
	for {
		if now, err := memoryOf(cmd.Process.Pid, "VmHWM"); err == nil { // else it has just ended
			peak = max(peak, now)
		}
		select {
		case <-look.C:
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, told.Bytes())
			}
			return peak, err
		}
	}
}
