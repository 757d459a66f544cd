package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/goleak"

	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/cli/client/command"
	"labshelf/cli/group"
	"labshelf/cli/process"
	"labshelf/client"
	"labshelf/handlers"
	"labshelf/internal/testhome"
	"labshelf/repository"
)

// Environment variables of a child process that runs the program instead of the tests. The child
// writes its memory use in bytes to the file childMemory.
const childBase, childKey, childMemory = "LABSHELF_TEST_BASE", "LABSHELF_TEST_KEY", "LABSHELF_TEST_MEMORY"

func TestMain(m *testing.M) {
	if os.Getenv(childBase) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		err := run(ctx, os.Getenv(childBase), os.Getenv(childKey), os.Stdin, os.Stdout, os.Stderr, os.Args[1:])
		stop()
		if path := os.Getenv(childMemory); path != "" {
			var taken runtime.MemStats
			runtime.ReadMemStats(&taken)
			err = errors.Join(err, os.WriteFile(path, []byte(strconv.FormatUint(taken.Sys, 10)), 0o600))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = testhome.Remove()
		os.Exit(code)
	}))
}

// service is a real service in a temporary directory, behind a listening socket.
type service struct {
	dir    string // data directory
	repo   *repository.Service
	server *httptest.Server
	secret [32]byte       // secret for its metadata
	key    string         // key of the first sysadmin
	client *client.Client // uses that key

	mu     sync.Mutex
	before http.HandlerFunc // handles each request before the service; nil if the service gets all requests
}

// start starts a service for a test, with small pages of resources.
func start(t *testing.T) *service {
	t.Helper()
	dir := t.TempDir()
	files, err := directory.Open(dir, directory.OS{})
	if err != nil {
		t.Fatal(err)
	}
	meta, err := bolt.Open(filepath.Join(dir, "labshelf.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &service{dir: dir, secret: meta.Secret(), repo: repository.New(meta, files, repository.Config{
		PageSize: 10, DirectoryPageSize: 10, HoldUpTo: 128 << 10, IndexDir: filepath.Join(dir, "index"),
	})}
	if s.key, err = s.repo.Users.Bootstrap(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	handler := handlers.New(s.repo, handlers.Config{Hostname: "host", Version: "1.2.3"})
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		before := s.before
		s.mu.Unlock()
		if before == nil {
			handler.ServeHTTP(w, r)
			return
		}
		before(intercepted{w, handler}, r)
	}))
	s.client = client.New(s.base(), s.key)
	t.Cleanup(func() {
		s.client.Close()
		s.server.Close()
		s.repo.Close()
		if err := meta.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *service) base() string { return s.server.URL + "/v1" }

// intercepted is the response to a request that another handler saw before the service.
type intercepted struct {
	http.ResponseWriter
	service http.Handler
}

// on forwards a request to the service.
func on(w http.ResponseWriter, r *http.Request) {
	i := w.(intercepted)
	i.service.ServeHTTP(i.ResponseWriter, r)
}

// intercept makes before handle every request first. before calls on to forward the request. nil
// removes before.
func (s *service) intercept(before http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

// newSet creates a dataspace and a set in it.
func (s *service) newSet(t *testing.T, dataspace, set string) client.Set {
	t.Helper()
	d := must[client.Dataspace](t)(s.client.Dataspaces.Create(t.Context(), client.NewDataspace{Name: dataspace}))
	return must[client.Set](t)(s.client.Sets.Create(t.Context(), client.NewSet{Name: set, DataspaceID: d.ID}))
}

// put stores a resource.
func (s *service) put(t *testing.T, set, name, text string) client.Resource {
	t.Helper()
	return must[client.Resource](t)(s.client.Resources.Create(t.Context(), client.NewResource{SetID: set, Name: name}, strings.NewReader(text), int64(len(text))))
}

// active lists the active resources of a set, by name.
func (s *service) active(t *testing.T, set string) (list []client.Resource) {
	t.Helper()
	for r, err := range s.client.Sets.Resources(t.Context(), set, client.ListOptions{Order: "name", Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// ran is the result of a command.
type ran struct {
	out, err string // standard output and error
	error
}

// Error returns the whole result, for failing tests.
func (r ran) Error() string {
	return fmt.Sprintf("standard output %q, standard error %q, error %v", r.out, r.err, r.error)
}

// run runs a command as the sysadmin, as in run(t, "", "key", "ls"), with in on its standard input.
func (s *service) run(t *testing.T, in string, args ...string) ran {
	t.Helper()
	return s.runAs(t.Context(), s.key, in, args...)
}

// runAs runs a command with another key. The end of ctx acts as the signal.
func (s *service) runAs(ctx context.Context, key, in string, args ...string) ran {
	return s.runFrom(ctx, key, strings.NewReader(in), args...)
}

// runFrom is like runAs, with a standard input that need not end.
func (s *service) runFrom(ctx context.Context, key string, in io.Reader, args ...string) ran {
	var out, problems bytes.Buffer
	err := run(ctx, s.base(), key, in, &out, &problems, args)
	return ran{out.String(), problems.String(), err}
}

// process returns a command in its own process, which can be killed. The caller starts it.
func (s *service) process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(must[string](t)(os.Executable()), args...)
	cmd.Env = append(os.Environ(), childBase+"="+s.base(), childKey+"="+s.key)
	return cmd
}

func run(ctx context.Context, base, key string, in io.Reader, out, problems io.Writer, args []string) error {
	p := command.Process{
		Process:     process.Process{Version: "2.0.0", In: in, Out: out, Err: problems},
		UntilSignal: func(run func(context.Context) error) error { return run(ctx) },
		Connect: func(*pflag.FlagSet, process.Process, bool) (*client.Client, error) {
			return client.New(base, key).WithRetries(client.Retries{First: time.Millisecond, Longest: 5 * time.Millisecond}), nil
		},
	}
	root := newRoot(p)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(problems)
	return root.ExecuteContext(ctx)
}

// newRoot returns the root command of all commands.
func newRoot(p command.Process) *cobra.Command {
	root := &cobra.Command{Use: "labshelf", SilenceErrors: true, SilenceUsage: true}
	for _, id := range []string{group.Use, group.People, group.Care} {
		root.AddGroup(&cobra.Group{ID: id})
	}
	root.AddCommand(commandsOf(p)...)
	return root
}

// must returns a function that fails the test after an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(got T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// TestRun: each command uses the service with its key.
func TestRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	s.put(t, set.ID, "a/b.txt", "text")
	if list := s.active(t, set.ID); len(list) != 1 || list[0].Name != "a/b.txt" {
		t.Errorf("got %v", list)
	}
	if got := s.run(t, "", "status"); got.error != nil || !strings.Contains(strings.Join(strings.Fields(got.out), " "), "you are admin") {
		t.Errorf("got %+v", got)
	}
	var asked atomic.Int32
	s.intercept(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); on(w, r) })
	if got := s.runAs(t.Context(), "lsk_wrong", "", "key", "ls"); got.error == nil || asked.Load() != 1 {
		t.Errorf("got %+v after %d requests", got, asked.Load())
	}
}
