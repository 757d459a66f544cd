package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// senders is how many files are sent at once, by "labshelf put" as it is, and by rclone and as many curls.
const senders = 8

// rival is another program that sends the same files as "labshelf put".
type rival struct {
	program           string   // its name
	withMany, withOne string   // what stands in the table beside many files and beside a large one
	targets           []target // of many files
	send              func(ctx context.Context, p *putting) (sentBy, error)
}

// rivals returns those that are installed, and says which are not.
func (b *bench) rivals() (there []rival) {
	for _, r := range []rival{
		{"curl", "curl, a process for each", "curl, which does not hash it", []target{ratioAtLeast(1)}, byCurls},
		{"rclone", "rclone to its own WebDAV server", "rclone to its own WebDAV server", nil, byRclone},
	} {
		if _, err := exec.LookPath(r.program); err != nil {
			b.say("%s is not installed: the rows of put beside it are left out", r.program)
			continue
		}
		there = append(there, r)
	}
	return there
}

// command is labshelf as a client of a service.
func (b *bench) command(ctx context.Context, s *subject, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Env = append(environment("LABSHELF_"), "LABSHELF_SERVER="+s.Base(), "LABSHELF_KEY="+s.Key())
	return cmd
}

// environment returns the variables of this process, without those of a program that is to run as it is by default.
func environment(without string) []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, without) })
}

func byPut(ctx context.Context, p *putting, s *subject) (sentBy, error) {
	cmd := p.command(ctx, s, "put", p.folder, s.set, "--parallel", strconv.Itoa(senders))
	begin := time.Now()
	peak, err := ranWithPeak(cmd)
	return sentBy{time.Since(begin), peak, len(p.sums)}, err
}

// byCurls runs a curl for each file, several at a time, which send to a new service what put does but for the digest.
func byCurls(ctx context.Context, p *putting) (sentBy, error) {
	did, err := p.to(ctx, "put-curls", func(ctx context.Context, p *putting, s *subject) (sentBy, error) {
		names := slices.Sorted(maps.Keys(p.sums))
		peaks := make([]float64, senders)
		begin := time.Now()
		err := together(senders, func(hand int) error {
			for i := hand; i < len(names); i += senders {
				peak, err := ranWithPeak(p.curl(ctx, s, names[i]))
				if err != nil {
					return err
				}
				peaks[hand] = max(peaks[hand], peak)
			}
			return nil
		})
		return sentBy{time.Since(begin), slices.Max(peaks), len(names)}, err
	})
	if err != nil {
		return sentBy{}, err
	}
	return did[0], nil
}

func (p *putting) curl(ctx context.Context, s *subject, name string) *exec.Cmd {
	path := filepath.Join(p.folder, filepath.FromSlash(name))
	return exec.CommandContext(ctx, "curl", "-sS", "--fail", "-o", os.DevNull, "-H", "Authorization: "+s.Key(),
		"-F", "setId="+s.set, "--form-string", "name="+name, "-F", `file=@"`+path+`"`, s.Base()+"/resources")
}

// fewFolders are those that rclone copies, in its own pattern: the first ten. It waits for 10 ms between two calls to a WebDAV server,
// however many transfers there are, and makes three calls a file, so that the others would take minutes and tell nothing new.
const fewFolders = "/?/**"

// byRclone lets rclone copy files to the WebDAV server that it is itself, over a new folder, which is removed afterwards.
func byRclone(ctx context.Context, p *putting) (did sentBy, err error) {
	var open closers
	defer open.close(&err)
	folder := filepath.Join(p.bench.folder, "put-rclone")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return did, err
	}
	open.later(func() error { return os.RemoveAll(folder) })
	address, err := freeAddress()
	if err != nil {
		return did, err
	}
	if _, err := runServer(ctx, &open, address, "rclone", "serve", "webdav", folder, "--addr", address, "--config", "", "--quiet"); err != nil {
		return did, err
	}
	cmd := exec.CommandContext(ctx, "rclone", "copy", p.folder, ":webdav:", "--webdav-url", "http://"+address,
		"--include", fewFolders, "--transfers", strconv.Itoa(senders), "--config", "", "--quiet")
	cmd.Env = environment("RCLONE_")
	begin := time.Now()
	did.peak, err = ranWithPeak(cmd)
	did.took = time.Since(begin)
	if err != nil {
		return did, err
	}
	did.files, err = p.copied(folder)
	return did, err
}

// copied returns how many files a folder has, and an error unless these are exactly those of the first folders.
func (p *putting) copied(folder string) (files int, err error) {
	want := maps.Clone(p.sums)
	maps.DeleteFunc(want, func(name, _ string) bool { return strings.Index(name, "/") > 1 })
	got := map[string]string{}
	err = fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		got[name], err = digestOf(filepath.Join(folder, filepath.FromSlash(name)))
		return err
	})
	if err == nil && !maps.Equal(got, want) {
		err = fmt.Errorf("%d files were copied, not the %d that were sent", len(got), len(want))
	}
	return len(got), err
}

// digestOf returns the SHA-256 of a file.
func digestOf(path string) (digest string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
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
