package servers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// The accounts of a Postgres. An ordinary account owns the databases, as in a real installation.
const (
	admin    = "postgres"
	owner    = "labshelf"
	password = "not-a-secret"
)

// Postgres is a PostgreSQL server in its own folder, on one loopback port and on a socket. Its
// databases use the en_US collation, which reveals code that relies on byte order. Its clients need
// a password.
//
// Its methods can be called by one goroutine at a time, except those that return addresses.
type Postgres struct {
	folder    string
	port      int
	settings  []string
	databases atomic.Int64
	standbys  int
	process   *process // nil while the server is stopped
}

// NewPostgres creates and starts a durable server: fsync and synchronous_commit are on unless a
// setting such as "fsync=off" changes them. The error is ErrMissing if PostgreSQL is not installed.
// The caller closes it.
func NewPostgres(settings ...string) (_ *Postgres, err error) {
	p, err := makePostgres(settings)
	if err != nil {
		return nil, err
	}
	if err = copyTemplate(p.data()); err == nil {
		err = p.Start()
	}
	if err == nil {
		_, err = p.asAdmin("CREATE ROLE " + owner + " LOGIN PASSWORD '" + password + "'")
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// StartPostgres is like NewPostgres, for a test. It closes the server when the test ends, and skips
// the test if PostgreSQL is not installed.
func StartPostgres(tb testing.TB, settings ...string) *Postgres {
	tb.Helper()
	p, err := NewPostgres(settings...)
	need(tb, err)
	closing(tb, p)
	return p
}

// makePostgres creates the folder of a server, without its data.
func makePostgres(settings []string) (*Postgres, error) {
	if _, err := postgresProgram("postgres"); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "postgres-")
	if err != nil {
		return nil, err
	}
	p := &Postgres{folder: folder, settings: settings}
	p.port, err = freePort()
	if err == nil {
		err = unprivileged(new(exec.Cmd), folder)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return p, nil
}

// postgresProgram returns the path of a PostgreSQL program. Debian has one folder per version, of
// which it uses the newest.
func postgresProgram(name string) (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) > 0 {
		return found[len(found)-1], err
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("PostgreSQL %w: %w", ErrMissing, err)
	}
	return path, nil
}

func (p *Postgres) data() string { return filepath.Join(p.folder, "data") }
func (p *Postgres) log() string  { return filepath.Join(p.folder, "log") }

// Addr returns the address of the server, which stays the same after Kill and Start.
func (p *Postgres) Addr() string { return loopback(p.port) }

// Log returns the end of the server's log.
func (p *Postgres) Log() string { return tail(p.log()) }

// Start starts the server again, and returns when it accepts connections. A standby accepts
// read-only connections.
func (p *Postgres) Start() error {
	program, err := postgresProgram("postgres")
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "-D", p.data(), "-p", strconv.Itoa(p.port))
	// Shared memory is in files in the folder, so that a killed server leaves no other shared
	// memory.
	for _, setting := range append([]string{"listen_addresses=127.0.0.1", "unix_socket_directories=" + p.folder,
		"dynamic_shared_memory_type=mmap"}, p.settings...) {
		cmd.Args = append(cmd.Args, "-c", setting)
	}
	cmd.Env, cmd.Dir = environment(), p.folder
	if err := unprivileged(cmd); err != nil {
		return err
	}
	if p.process, err = start(cmd, p.log(), syscall.SIGQUIT); err != nil {
		return err
	}
	if err = p.process.until(p.ready, p.log()); err != nil {
		err = errors.Join(err, p.end(syscall.SIGQUIT))
	}
	return err
}

// ready reports whether the server's PID file says that it accepts connections.
func (p *Postgres) ready() bool {
	lines := p.pidFile()
	return len(lines) > 7 && lines[0] == strconv.Itoa(p.process.cmd.Process.Pid) && strings.TrimSpace(lines[7]) == "ready"
}

// pidFile returns the lines of the PID file of the postmaster, or nil if the file is missing.
func (p *Postgres) pidFile() []string {
	text, err := os.ReadFile(filepath.Join(p.data(), "postmaster.pid"))
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}

// Kill ends all processes of the server with SIGKILL, like a crash, and returns when they have
// exited.
func (p *Postgres) Kill() error {
	if p.process == nil {
		return nil
	}
	err := killFamily(p.process)
	p.process = nil
	return err
}

// Stop performs a fast shutdown: sessions end, and open transactions are rolled back.
func (p *Postgres) Stop() error { return p.end(syscall.SIGINT) }

func (p *Postgres) end(signal os.Signal) error {
	if p.process == nil {
		return nil
	}
	err := p.process.signal(signal)
	p.process = nil
	return err
}

// Close ends the server and removes its folder.
func (p *Postgres) Close() error {
	err := p.end(syscall.SIGQUIT)
	removeShared(p.pidFile())
	return errors.Join(err, os.RemoveAll(p.folder))
}

// NewDatabase creates an empty database and returns its address, for an account with all
// permissions in this database and no others.
func (p *Postgres) NewDatabase() (string, error) {
	name := fmt.Sprintf("labshelf_%d", p.databases.Add(1))
	if _, err := p.asAdmin("CREATE DATABASE " + name + " OWNER " + owner); err != nil {
		return "", err
	}
	return p.address(owner, name), nil
}

// Database is like NewDatabase, for a test. It removes the database when the test ends, if the
// server still runs.
func (p *Postgres) Database(tb testing.TB) string {
	tb.Helper()
	address, err := p.NewDatabase()
	need(tb, err)
	p.dropping(tb, address)
	return address
}

// Copy copies a database for a test, and removes the copy when the test ends. The original must
// have no sessions.
func (p *Postgres) Copy(tb testing.TB, address string) string {
	tb.Helper()
	name := fmt.Sprintf("labshelf_%d", p.databases.Add(1))
	_, err := p.asAdmin("CREATE DATABASE " + name + " OWNER " + owner + " TEMPLATE " + databaseOf(address))
	need(tb, err)
	copied := p.address(owner, name)
	p.dropping(tb, copied)
	return copied
}

// dropping removes a database at the end of a test, if the server still runs.
func (p *Postgres) dropping(tb testing.TB, address string) {
	tb.Cleanup(func() {
		if p.process == nil {
			return
		}
		if _, err := p.asAdmin("DROP DATABASE IF EXISTS " + databaseOf(address) + " WITH (FORCE)"); err != nil {
			tb.Error(err)
		}
	})
}

// At returns the address of the same database on this server, such as a standby.
func (p *Postgres) At(address string) string { return p.address(owner, databaseOf(address)) }

// OverSocket returns the address of the same database over the socket of this server.
func (p *Postgres) OverSocket(address string) string {
	query := url.Values{"host": {p.folder}, "port": {strconv.Itoa(p.port)}}
	return fmt.Sprintf("postgres://%s:%s@/%s?%s", owner, password, databaseOf(address), query.Encode())
}

func (p *Postgres) address(user, database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", user, password, p.Addr(), database)
}

// databaseOf returns the database name in an address of a Postgres.
func databaseOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // the error could contain a password, but this address is generated
	}
	return strings.TrimPrefix(u.Path, "/")
}

// Query runs statements as a superuser in the database of an address, and returns their output like
// Psql.
func (p *Postgres) Query(ctx context.Context, address, statements string) (string, error) {
	return Psql(ctx, p.address(admin, databaseOf(address)), statements)
}

func (p *Postgres) asAdmin(statements string) (string, error) {
	return Psql(context.Background(), p.address(admin, "postgres"), statements)
}

// Psql runs statements over one connection with psql, and returns their output: one line per row,
// with | between columns. Several statements in one string are one transaction.
func Psql(ctx context.Context, address string, statements ...string) (string, error) {
	program, err := postgresProgram("psql")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", address)
	for _, text := range statements {
		cmd.Args = append(cmd.Args, "-c", text)
	}
	cmd.Env = environment()
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(statements, "; "), err, output)
	}
	return strings.TrimSuffix(string(output), "\n"), nil
}
