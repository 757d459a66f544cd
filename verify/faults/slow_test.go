package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"labshelf/verify/e2e"
)

// slow lets slow and idle clients crowd the service, from a process of their own, and times normal requests beside them.
func slow(ctx context.Context, t *trial) error {
	program, err := t.build(ctx)
	if err != nil {
		return err
	}
	// The short row has shorter patience, so that the ends of slow clients come within its time. The long one lasts until the service
	// has hung up on all who are idle (after two minutes), and they have come back.
	patience, lasts := time.Second, 4*time.Second
	if t.long {
		patience, lasts = 30*time.Second, 125*time.Second
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
	t.done += t.size
	return errors.Join(err, clean(ctx, program, data))
}

// crowded measures before the crowd comes, and while it comes, stays and leaves.
func (t *trial) crowded(ctx context.Context, c *caller, data string, lasts time.Duration) error {
	var space, set, file record
	err := c.want(ctx, http.MethodPost, "/dataspaces", map[string]string{"name": "lab"}, &space)
	if err == nil {
		err = c.want(ctx, http.MethodPost, "/sets", map[string]string{"name": "runs", "dataspaceId": space.ID}, &set)
	}
	if err == nil {
		file, err = uploaded(ctx, c, set.ID, content(t.seed, 8<<20))
	}
	if err != nil {
		return err
	}
	alone, err := t.beside(ctx, c, set.ID, func() error { return pass(ctx, lasts/4) })
	if err != nil {
		return err
	}
	beside, err := t.beside(ctx, c, set.ID, func() error {
		crowd, err := t.gather(ctx, c, data, file)
		if err != nil {
			return err
		}
		return errors.Join(pass(ctx, lasts), crowd.leave(t))
	})
	if err != nil {
		return err
	}
	log, err := os.ReadFile(data + ".log")
	if err != nil {
		return err
	}
	if err := t.cutOff("slow readers cut off", cutShort(string(log), file)); err != nil {
		return err
	}
	for _, kind := range []string{reading, listing, changing} {
		t.most("slowest "+kind+" alone in ms:", inMS(slowest(alone[kind])))
	}
	return t.judge(beside)
}

// pass waits for a time.
func pass(ctx context.Context, lasts time.Duration) error {
	select {
	case <-time.After(lasts):
	case <-ctx.Done():
	}
	return ctx.Err()
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
