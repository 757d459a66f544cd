package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"labshelf/verify/e2e"
)

// slow connects slow and idle clients from another process, and measures normal requests at the
// same time.
func slow(ctx context.Context, t *trial) error {
	program, err := t.build(ctx)
	if err != nil {
		return err
	}
	// The short row has a shorter stall timeout, so that slow clients are disconnected within its
	// time. The long row lasts until the service has closed all idle connections after two minutes,
	// and the clients have opened them again.
	stallTimeout, duration := time.Second, 4*time.Second
	if t.long {
		stallTimeout, duration = 30*time.Second, 125*time.Second
	}
	data := filepath.Join(t.dir, "data")
	service, err := e2e.Start(ctx, program, data, "--stall-timeout", stallTimeout.String())
	if err != nil {
		return err
	}
	err = t.timeAround(ctx, service.Client, data, duration)
	if err := errors.Join(err, service.Stop()); err != nil {
		return err
	}
	left, err := os.ReadDir(filepath.Join(data, "tmp"))
	if err == nil && len(left) > 0 {
		err = violated(nil, "temporary files remain after the slow clients: %v", left)
	}
	t.done += t.size
	return errors.Join(err, clean(ctx, program, data))
}

// timeAround measures requests before the slow clients connect, and from then until they have
// disconnected.
func (t *trial) timeAround(ctx context.Context, c *e2e.Client, data string, duration time.Duration) error {
	_, set, err := c.MakeSet(ctx, "runs")
	if err != nil {
		return err
	}
	file, err := uploaded(ctx, c, set, content(t.seed, 8<<20))
	if err != nil {
		return err
	}
	alone, err := t.timeDuring(ctx, c, set, func() error { return sleep(ctx, duration/4) })
	if err != nil {
		return err
	}
	during, err := t.timeDuring(ctx, c, set, func() error {
		slowClients, err := t.startSlowClients(ctx, c, data, file)
		if err != nil {
			return err
		}
		return errors.Join(sleep(ctx, duration), slowClients.leave(t))
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
	return t.judge(during)
}

// sleep waits for the duration, which is the duration of a load.
func sleep(ctx context.Context, duration time.Duration) error {
	select {
	case <-time.After(duration):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// slowClients is the process of the slow clients.
type slowClients struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Reader
}

// startSlowClients starts the slow clients and waits until all are connected.
func (t *trial) startSlowClients(ctx context.Context, c *e2e.Client, data string, file record) (*slowClients, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, childSlow, c.Address(), filepath.Join(data, e2e.KeyFile), "/v1"+pathOf(file.DataURL), strconv.Itoa(t.size))
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
	g := &slowClients{cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}
	if line, err := g.stdout.ReadString('\n'); line != "connected\n" {
		return nil, fmt.Errorf("the slow clients did not connect: %q, %w", line, errors.Join(err, g.stdin.Close(), cmd.Wait()))
	}
	return g, nil
}

// leave stops the slow clients. The service must have disconnected some of each kind.
func (g *slowClients) leave(t *trial) error {
	err := g.stdin.Close()
	text, reading := io.ReadAll(g.stdout)
	if err := errors.Join(err, reading, g.cmd.Wait()); err != nil {
		return fmt.Errorf("the slow clients: %w\n%s", err, text)
	}
	for line := range strings.Lines(string(text)) {
		kind, count, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return fmt.Errorf("the slow clients reported %q: %w", line, err)
		}
		if err := t.cutOff(kind, n); err != nil {
			return err
		}
	}
	return nil
}

// cutOff counts the disconnected clients of a kind. There must be at least one.
func (t *trial) cutOff(kind string, n int64) error {
	t.add(kind, n)
	if n == 0 {
		return violated(nil, "%s: 0", kind)
	}
	return nil
}

// cutShort counts aborted downloads of a file in the log of the service. The clients cannot count
// them, because reading the bytes in flight would take them hours.
func cutShort(log string, file record) (n int64) {
	path, whole := pathOf(file.DataURL)+`"`, fmt.Sprintf(`"bytes":%d,`, file.Bytes)
	for line := range strings.Lines(log) {
		if strings.Contains(line, path) && !strings.Contains(line, whole) {
			n++
		}
	}
	return n
}
