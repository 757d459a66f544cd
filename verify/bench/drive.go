package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// copied is the size in bytes of each file that is copied to the drive.
const copied = 8 << 20

// drive measures how fast "rclone copy" sends files to the drive. It compares this with "labshelf
// put", which sends as many files in parallel, and with "rclone copy" to rclone's own server, which
// does not sync. rclone waits 10 ms between the starts of any two requests, and sends three
// requests for each file. Therefore drive also sends the same requests without these pauses.
func (b *bench) drive(ctx context.Context) (rows []row, err error) {
	if _, err := exec.LookPath("rclone"); err != nil {
		b.say("rclone is not installed: the rows of the drive are skipped")
		return nil, nil
	}
	p := &putting{bench: b}
	defer func() { err = errors.Join(err, p.remove()) }()
	if err = p.fill("drive", b.copyFiles, copied); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d files of 8 MiB to the drive, ", b.copyFiles)
	rows = []row{
		{what: what + "rclone copy", unit: "files/s", reference: "labshelf put", targets: []target{ratioAtLeast(0.7)}},
		{what: what + "the requests of rclone without its pauses", unit: "files/s", reference: "labshelf put", targets: []target{ratioAtLeast(0.7)}},
		{what: what + "rclone copy", unit: "files/s", reference: "rclone copy to rclone serve webdav, without syncs"},
	}
	for round := range b.moreRounds {
		b.say("%s, round %d", what, round+1)
		var speeds [4]float64
		for i, send := range []sending{byRclone, byPut, byRequests, toRclone} {
			if err := b.atRest(ctx); err != nil {
				return nil, err
			}
			if i == 3 {
				speeds[i], err = send(ctx, p, nil)
			} else {
				speeds[i], err = p.toNewService(ctx, send)
			}
			if err != nil {
				return nil, err
			}
		}
		rows[0].add(speeds[0], speeds[1])
		rows[1].add(speeds[2], speeds[1])
		rows[2].add(speeds[0], speeds[3])
	}
	return rows, nil
}

// onDrive returns the URL of the service's set on its drive.
func onDrive(s *subject) string { return "http://" + s.Address() + "/dav/bench-space/bench/" }

// byRclone copies the files to the drive.
func byRclone(ctx context.Context, p *putting, s *subject) (perSecond float64, err error) {
	return p.rclone(ctx, onDrive(s), s.Key())
}

// toRclone copies the files to rclone's own server, which serves a temporary folder.
func toRclone(ctx context.Context, p *putting, _ *subject) (perSecond float64, err error) {
	const password = "password"
	var open closers
	defer open.close(&err)
	folder := filepath.Join(p.bench.folder, "rclone")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return 0, err
	}
	open.later(func() error { return os.RemoveAll(folder) })
	address, err := freeAddress()
	if err == nil {
		_, err = runServer(ctx, &open, address, "rclone", "serve", "webdav", "--quiet", "--config", filepath.Join(folder, "none"), "--addr", address, "--user", "bench", "--pass", password, folder)
	}
	if err != nil {
		return 0, err
	}
	return p.rclone(ctx, "http://"+address+"/", password)
}

// rclone copies the files to a WebDAV server.
func (p *putting) rclone(ctx context.Context, to, password string) (perSecond float64, err error) {
	obscured, err := runToEnd(exec.CommandContext(ctx, "rclone", "obscure", password))
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "rclone", "copy", "--quiet", "--transfers", strconv.Itoa(senders), p.folder, "to:")
	cmd.Env = append(os.Environ(), "RCLONE_CONFIG="+filepath.Join(p.bench.folder, "none"), "RCLONE_CONFIG_TO_TYPE=webdav", "RCLONE_CONFIG_TO_VENDOR=other",
		"RCLONE_CONFIG_TO_URL="+to, "RCLONE_CONFIG_TO_USER=bench", "RCLONE_CONFIG_TO_PASS="+strings.TrimSpace(string(obscured)))
	begin := time.Now()
	_, err = runToEnd(cmd)
	return float64(len(p.sums)) / time.Since(begin).Seconds(), err
}

// byRequests sends the requests of rclone for each file: MKCOL of its folder, PUT, and PROPFIND.
func byRequests(ctx context.Context, p *putting, s *subject) (perSecond float64, err error) {
	names := slices.Sorted(maps.Keys(p.sums))
	d := driveClient{s, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}}
	defer d.http.CloseIdleConnections()
	begin := time.Now()
	err = parallel(senders, func(worker int) error {
		for i := worker; i < len(names); i += senders {
			if err := d.copy(ctx, p.folder, names[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return float64(len(names)) / time.Since(begin).Seconds(), err
}

// driveClient sends requests to the drive of a service.
type driveClient struct {
	*subject
	http *http.Client
}

func (d driveClient) copy(ctx context.Context, folder, name string) error {
	file, err := os.Open(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it is only read
	escaped := (&url.URL{Path: name}).EscapedPath()
	if _, err := d.ask(ctx, "MKCOL", path.Dir(escaped)+"/", nil); err != nil {
		return err
	}
	for _, step := range []struct {
		method string
		body   io.Reader
		want   int
	}{{http.MethodPut, file, http.StatusCreated}, {"PROPFIND", nil, http.StatusMultiStatus}} {
		got, err := d.ask(ctx, step.method, escaped, step.body)
		if err == nil && got != step.want {
			err = fmt.Errorf("%s %s: %d", step.method, name, got)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d driveClient) ask(ctx context.Context, method, path string, body io.Reader) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, method, onDrive(d.subject)+path, body)
	if err != nil {
		return 0, err
	}
	if body != nil {
		request.ContentLength = copied
	}
	request.SetBasicAuth("bench", d.Key())
	request.Header.Set("Depth", "0")
	response, err := d.http.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, errors.Join(err, response.Body.Close())
}
