package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/e2e"
)

// attackers is how many there are of each kind of slow client; of the idle ones there are as many as the row's size says.
const attackers = 50

// How soon each normal request must be answered beside them: in the short row every one, in the long one 99 of 100.
const (
	slowestAnswer = 2 * time.Second
	p99Answer     = 100 * time.Millisecond
)

// slow lets slow and idle clients crowd the service, from a process of their own, and times normal requests beside them.
func slow(ctx context.Context, t *trial) error {
	program, err := t.build(ctx)
	if err != nil {
		return err
	}
	// The short row has shorter patience, so that the ends of slow clients come within its time.
	patience, lasts := time.Second, 4*time.Second
	if !t.brief {
		patience, lasts = 30*time.Second, 2*time.Minute
	}
	data := filepath.Join(t.dir, "data")
	service, err := e2e.Start(ctx, program, data, "--stall-timeout", patience.String())
	if err != nil {
		return err
	}
	c, err := newCaller(service.Base(), data)
	if err == nil {
		err = t.crowded(ctx, c, data, lasts)
	}
	if err := errors.Join(err, service.Stop()); err != nil {
		return err
	}
	left, err := os.ReadDir(filepath.Join(data, "tmp"))
	if err == nil && len(left) > 0 {
		err = violated(nil, "the slow clients have left %v", left)
	}
	t.advance(t.size)
	return errors.Join(err, clean(ctx, program, data))
}

// crowded measures with the crowd around.
func (t *trial) crowded(ctx context.Context, c *caller, data string, lasts time.Duration) error {
	var space, set, file record
	err := c.want(ctx, http.MethodPost, "/dataspaces", map[string]string{"name": "lab"}, &space)
	if err == nil {
		err = c.want(ctx, http.MethodPost, "/sets", map[string]string{"name": "runs", "dataspaceId": space.ID}, &set)
	}
	if err == nil {
		file, err = uploaded(ctx, c, set.ID, content(t.Seed, 8<<20))
	}
	if err != nil {
		return err
	}
	alone, err := normal(ctx, c, set.ID, lasts/4)
	if err != nil {
		return err
	}
	crowd, err := t.gather(ctx, c, data, file)
	if err != nil {
		return err
	}
	beside, err := normal(ctx, c, set.ID, lasts)
	if err := errors.Join(err, crowd.leave(t)); err != nil {
		return err
	}
	log, err := os.ReadFile(data + ".log")
	if err != nil {
		return err
	}
	if err := t.cutOff("slow readers cut off", cutShort(string(log), file)); err != nil {
		return err
	}
	t.add("normal requests beside", int64(len(beside)))
	t.most("p99 alone in ms:", at(alone, 0.99).Seconds()*1000)
	t.most("p99 beside in ms:", at(beside, 0.99).Seconds()*1000)
	t.most("slowest in ms:", at(beside, 1).Seconds()*1000)
	if t.brief && at(beside, 1) > slowestAnswer {
		return violated(nil, "a normal request took %v", at(beside, 1))
	}
	if !t.brief && at(beside, 0.99) > p99Answer {
		return violated(nil, "one of a hundred normal requests took %v or more", at(beside, 0.99))
	}
	return nil
}

func uploaded(ctx context.Context, c *caller, set string, body []byte) (r record, err error) {
	a, err := c.upload(ctx, http.MethodPost, "/resources", map[string]string{"setId": set, "name": "a file"}, body)
	if err == nil && a.status != http.StatusCreated {
		err = a.refusal()
	}
	if err == nil {
		err = json.Unmarshal(a.body, &r)
	}
	return r, err
}

// normal sends requests of all kinds for a time, one after the other, and returns how long each took, ascending.
func normal(ctx context.Context, c *caller, set string, lasts time.Duration) (took []time.Duration, err error) {
	var last record
	for until := time.Now().Add(lasts); time.Now().Before(until) && ctx.Err() == nil; {
		for _, send := range []func() error{
			func() error { last, err = uploaded(ctx, c, set, content(uint64(len(took)), 4<<10)); return err },
			func() error { return c.get(ctx, last.URL, nil) },
			func() error { return c.want(ctx, http.MethodGet, last.DataURL, nil, nil) },
			func() error { return c.get(ctx, "/sets/"+set+"/resources?order=newest", nil) },
		} {
			begun := time.Now()
			if err := send(); err != nil {
				return nil, violated(nil, "a normal request beside the crowd: %w", err)
			}
			took = append(took, time.Since(begun))
		}
		time.Sleep(5 * time.Millisecond)
	}
	slices.Sort(took)
	return took, ctx.Err()
}

// at returns the value below which so great a part of them lies.
func at(sorted []time.Duration, part float64) time.Duration {
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}

// crowd is the process of the slow clients.
type crowd struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Reader
}

// gather starts the crowd and waits until all of it is there.
func (t *trial) gather(ctx context.Context, c *caller, data string, file record) (*crowd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(c.base, "http://"), "/")
	cmd := exec.CommandContext(ctx, self, childCrowd, address, filepath.Join(data, e2e.KeyFile), "/v1"+pathOf(file.DataURL), strconv.Itoa(t.size))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	g := &crowd{cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}
	if line, err := g.stdout.ReadString('\n'); line != "gathered\n" {
		return nil, fmt.Errorf("the crowd does not gather: %q, %w", line, errors.Join(err, g.stdin.Close(), cmd.Wait()))
	}
	return g, nil
}

// leave ends the crowd. The service must have cut off some of each slow kind.
func (g *crowd) leave(t *trial) error {
	err := g.stdin.Close()
	text, reading := io.ReadAll(g.stdout)
	if err := errors.Join(err, reading, g.cmd.Wait()); err != nil {
		return fmt.Errorf("the crowd: %w\n%s", err, text)
	}
	for line := range strings.Lines(string(text)) {
		kind, count, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return fmt.Errorf("the crowd said %q: %w", line, err)
		}
		if err := t.cutOff(kind, n); err != nil {
			return err
		}
	}
	return nil
}

// cutOff counts the clients of a slow kind that were cut off, of which there must be some.
func (t *trial) cutOff(kind string, n int64) error {
	t.add(kind, n)
	if n == 0 {
		return violated(nil, "%s: none", kind)
	}
	return nil
}

// cutShort counts the downloads of a file that ended early, as the log of the service has it: the clients take for hours what
// was on the way to them.
func cutShort(log string, file record) (n int64) {
	path, whole := pathOf(file.DataURL)+`"`, fmt.Sprintf(`"bytes":%d,`, file.Bytes)
	for line := range strings.Lines(log) {
		if strings.Contains(line, path) && !strings.Contains(line, whole) {
			n++
		}
	}
	return n
}
