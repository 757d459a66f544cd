package servers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// NewStandby creates and starts a server that replicates p from a replication slot, so that p keeps
// everything that it has not received yet. With synchronous, p acknowledges a commit only after the
// commit is on the stable storage of the standby, and NewStandby returns when this is in effect.
// The caller closes the server.
func (p *Postgres) NewStandby(synchronous bool) (*Postgres, error) {
	program, err := postgresProgram("pg_basebackup")
	if err != nil {
		return nil, err
	}
	s, err := makePostgres(p.settings)
	if err != nil {
		return nil, err
	}
	p.standbys++
	name := fmt.Sprintf("standby_%d", p.standbys)
	source := fmt.Sprintf("%s&application_name=%s", p.address(admin, "postgres"), name)
	cmd := exec.Command(program, "-d", source, "-D", s.data(), "-X", "stream", "-c", "fast", "-C", "-S", name, "-R", "--no-sync")
	cmd.Env, cmd.Dir = environment(), s.folder
	err = unprivileged(cmd)
	if err == nil {
		var output []byte
		if output, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("pg_basebackup: %w: %s", err, output)
		}
	}
	if err == nil {
		err = s.Start()
	}
	want := "async"
	if err == nil && synchronous {
		want = "sync"
		err = p.configure("SET synchronous_standby_names = '" + name + "'")
	}
	if err == nil {
		err = p.untilReplicated(name, want)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// untilReplicated waits until a standby replicates in a mode, "sync" or "async".
func (p *Postgres) untilReplicated(name, want string) error {
	for deadline := time.Now().Add(startLimit); time.Now().Before(deadline); time.Sleep(poll) {
		state, err := p.asAdmin("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming' AND application_name = '" + name + "'")
		if err != nil || state == want {
			return err
		}
	}
	return fmt.Errorf("%s did not follow within %v\n%s", name, startLimit, p.Log())
}

// Standby is like NewStandby, and closes the server when the test ends.
func (p *Postgres) Standby(tb testing.TB, synchronous bool) *Postgres {
	tb.Helper()
	s, err := p.NewStandby(synchronous)
	need(tb, err)
	closing(tb, s)
	return s
}

// Promote turns a standby into a primary with everything that it has received, and returns when it
// accepts writes. It does not wait for standbys of the promoted server.
func (p *Postgres) Promote() error {
	if _, err := p.asAdmin("SELECT pg_promote()"); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(p.data(), "standby.signal")); err == nil {
		return errors.New("the standby was not promoted")
	}
	return p.configure("RESET synchronous_standby_names") // the setting was copied from the source
}

// configure changes a setting of the running server.
func (p *Postgres) configure(change string) error {
	if _, err := p.asAdmin("ALTER SYSTEM " + change); err != nil {
		return err
	}
	_, err := p.asAdmin("SELECT pg_reload_conf()")
	return err
}
