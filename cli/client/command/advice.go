package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"labshelf/cli/client/fetch"
	"labshelf/cli/connection"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// Advise adds advice to an error of a call. After a signal it returns an ErrInterrupted, and for a
// request that the service rejects as invalid an ErrUsage.
func (p Process) Advise(ctx context.Context, c *client.Client, err error) error {
	return connection.NameVersions(ctx, c, p.Version, Advise(ctx, c, err))
}

// Advise is the part of Process.advise that makes no request.
func Advise(ctx context.Context, c *client.Client, err error) error {
	if err == nil || errors.Is(err, exit.ErrInterrupted) {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w before the command was complete: check the state, or run it again", exit.ErrInterrupted)
	}
	var problem *client.Problem
	if errors.As(err, &problem) {
		switch {
		case problem.Status == 400 && problem.Code != "":
			return exit.Usage(err)
		case problem.Status == 401:
			return fmt.Errorf("%w\nsign in with a valid key: labshelf login %s", err, c.Base())
		case problem.Status == 403 && problem.Code == "forbidden":
			return fmt.Errorf("%w\n\"labshelf status\" shows who you are there%s", err, permissionAdvice(problem))
		case problem.OfGateway():
			return fmt.Errorf("%w\n%s", err, GatewayAdvice)
		case problem.Code == "" || problem.Code == "not_found":
			return fmt.Errorf("%w\nis %s the address of a labshelf service? --server selects another one", err, c.Base())
		}
	}
	if Unreachable(err) {
		return fmt.Errorf("%w\nis the service running, and is the address right? --server selects another one", err)
	}
	if errors.Is(err, fetch.ErrDisk) {
		return fmt.Errorf("%w\nfree some space there, or check that you may write, and run the same command again", err)
	}
	return AdviseTLS(err)
}

// GatewayAdvice is the advice where a proxy answers instead of labshelf.
const GatewayAdvice = "a proxy or load balancer is at that address, but no labshelf answers behind it: is the service running?"

// permissionAdvice says who can grant the missing permission, unless the service has already said
// so.
func permissionAdvice(problem *client.Problem) string {
	if strings.Contains(problem.Detail, "sysadmin") {
		return ""
	}
	return "; an admin of the dataspace, or a sysadmin, can give you the permission"
}

// AdviseTLS adds advice to an error of TLS.
func AdviseTLS(err error) error {
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, client.ErrNotTLS):
		return fmt.Errorf("%w\nthe service uses http at that address, not https: give the address with http://", err)
	case errors.As(err, &untrusted):
		return fmt.Errorf("%w\nthis machine does not trust the certificate of the service: ask the administrator of the service or of this machine", err)
	}
	return err
}

// announceRetries returns a client that reports once, on a terminal, that it is waiting for a
// service that does not answer.
func (p Process) announceRetries(c *client.Client) *client.Client {
	file, ok := p.Err.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return c
	}
	var said atomic.Bool
	return c.WithRetries(client.Retries{Wait: func(ctx context.Context, d time.Duration) error {
		if p.Meters.Load() == 0 && !said.Swap(true) { // otherwise the progress bar shows that it waits
			_, _ = display.Fprintf(p.Err, "labshelf: %s does not answer yet; trying again (Ctrl-C stops)\n", c.Base())
		}
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
}

// Unreachable reports whether no service answers at the address.
func Unreachable(err error) bool {
	var dial *net.OpError
	var unknown *net.DNSError
	return errors.As(err, &unknown) || errors.As(err, &dial) && dial.Op == "dial"
}

// Each calls do for each ref. It reports errors and continues, but stops at an error that would
// affect all other refs, too.
func (p Process) Each(ctx context.Context, refs []string, do func(ref string) error) error {
	failed := 0
	for _, ref := range refs {
		err := do(ref)
		if err == nil {
			continue
		}
		var problem *client.Problem
		if len(refs) == 1 || ctx.Err() != nil || Unreachable(err) || errors.As(err, &problem) && (problem.Status == 401 || problem.Code == "") {
			return err
		}
		failed++
		if _, err := display.Fprintf(p.Err, "labshelf: %s: %s\n", display.Printable(ref), strings.ReplaceAll(err.Error(), "\n", "\nlabshelf:   ")); err != nil {
			return err
		}
	}
	switch failed {
	case 0:
		return nil
	case len(refs):
		return errors.New("all of them failed, as reported above")
	}
	return fmt.Errorf("%w, as reported above: %d of %d", exit.ErrPartly, failed, len(refs))
}
