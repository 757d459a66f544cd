package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"labshelf/cli/config"
	"labshelf/cli/process"
	"labshelf/internal/testhome"
)

func TestMain(m *testing.M) {
	// The tests mostly wait, so more of them run in parallel. A flag on the command line overrides
	// this value.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	testscript.Main(leakTested{m}, map[string]func(){
		process.Program: func() { os.Exit(Main(os.Args[1:], os.Environ(), os.Stdout, os.Stderr)) },
	})
}

// leakTested reports goroutines that are still running after the tests of this process.
type leakTested struct{ *testing.M }

func (m leakTested) Run() int {
	code := m.M.Run()
	_ = testhome.Remove()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestScript runs the program as users do: see testdata/script. The commands below extend those of
// testscript.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata/script"))
}

// scripts returns the parameters for the scripts in dir.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			s := &stage{services: map[string]*service{}}
			env.Values[stageKey{}] = s
			env.Defer(s.clear)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":          exitsCommand,
			"serve":          startCommand,
			"signal":         signalCommand,
			"logged":         loggedCommand,
			"ended":          endedCommand,
			"http":           httpCommand,
			"begin-upload":   beginUploadCommand,
			"finish-upload":  finishUploadCommand,
			"abandon-upload": abandonUploadCommand,
			"key-from":       keyFromCommand,
			"mode":           modeCommand,
			"newer":          newerCommand,
			"put":            putCommand,
			"cut":            cutCommand,
			"lists":          listsCommand,
			"upload":         uploadCommand,
			"as":             asCommand,
			"interrupt":      interruptCommand,
			"watch":          backgroundCommand,
			"watched":        watchedCommand,
		},
	}
}

type stageKey struct{}

// stage contains everything that one script has started.
type stage struct {
	services map[string]*service
	upload   *slowUpload
}

// service is a running "labshelf serve". Its output is in NAME.out and NAME.err.
type service struct {
	*exec.Cmd
	ended    chan error
	out, err string // output files
}

type slowUpload struct {
	body   *io.PipeWriter
	form   *multipart.Writer
	file   io.Writer
	answer chan answer
}

type answer struct {
	status int
	body   []byte
	err    error
}

func stageOf(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

func (s *stage) service(ts *testscript.TestScript, name string) *service {
	running := s.services[name]
	if running == nil {
		ts.Fatalf("no service %q", name)
	}
	return running
}

// clear ends everything that the script has started.
func (s *stage) clear() {
	for _, running := range s.services {
		_ = running.Process.Kill()
		_ = <-running.ended
	}
	if s.upload != nil {
		_ = s.upload.body.CloseWithError(io.ErrUnexpectedEOF)
		<-s.upload.answer
	}
}

// scriptTimeout bounds each wait of a script. It is long because a busy machine is slow.
const scriptTimeout = time.Minute

// eventually polls done until it returns true.
func eventually(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(scriptTimeout); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("it never happened: %s", what)
		}
	}
}

// exits CODE PROGRAM ARG...: runs the program and expects that exit code.
func exitsCommand(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	got := 0
	if errors.As(err, &ended) {
		got, err = ended.ExitCode(), nil
	}
	ts.Check(err)
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// serve NAME ARG...: starts labshelf serve on a free port and returns when it is ready. Sets BASE,
// ADDR and PID, and KEY if the service prints a key.
func startCommand(ts *testscript.TestScript, _ bool, args []string) {
	name := args[0]
	s := &service{out: ts.MkAbs(name + ".out"), err: ts.MkAbs(name + ".err"), ended: make(chan error, 1)}
	s.Cmd = exec.Command(process.Program, append([]string{"serve", "--listen", "127.0.0.1:0"}, args[1:]...)...)
	s.Dir = ts.MkAbs(".")
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "LABSHELF_") {
			s.Env = append(s.Env, pair)
		}
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(flags)
	names := []string{"admin_key"}
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, strings.ReplaceAll(f.Name, "-", "_")) })
	for _, name := range names {
		variable := "LABSHELF_" + strings.ToUpper(name)
		if text := ts.Getenv(variable); text != "" {
			s.Env = append(s.Env, variable+"="+text)
		}
	}
	out, err := os.Create(s.out)
	ts.Check(err)
	problems, err := os.Create(s.err)
	ts.Check(err)
	s.Stdout, s.Stderr = out, problems
	ts.Check(s.Start())
	go func() { s.ended <- errors.Join(s.Wait(), out.Close(), problems.Close()) }()
	stageOf(ts).services[name] = s
	eventually(ts, name+" is ready", func() bool {
		text := ts.ReadFile(s.out)
		if len(s.ended) > 0 {
			ts.Fatalf("it ended: %s\n%s", text, ts.ReadFile(s.err))
		}
		return strings.HasSuffix(text, "/users/me\n\n")
	})
	text := ts.ReadFile(s.out)
	ts.Setenv("BASE", regexp.MustCompile(`address +(\S+)`).FindStringSubmatch(text)[1])
	ts.Setenv("ADDR", regexp.MustCompile(`//([^/]+)/`).FindStringSubmatch(ts.Getenv("BASE"))[1])
	ts.Setenv("PID", strconv.Itoa(s.Process.Pid))
	if key := regexp.MustCompile(`lsk_\S{43}`).FindString(text); key != "" {
		ts.Setenv("KEY", key)
	}
}

// signal NAME TERM|INT: sends the signal to a service.
func signalCommand(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt}
	ts.Check(stageOf(ts).service(ts, args[0]).Process.Signal(signals[args[1]]))
}

// logged NAME TEXT: waits until the service has logged the text.
func loggedCommand(ts *testscript.TestScript, _ bool, args []string) {
	s := stageOf(ts).service(ts, args[0])
	eventually(ts, "it logged "+args[1], func() bool { return strings.Contains(ts.ReadFile(s.err), args[1]) })
}

// ended NAME CODE: waits until the service has ended with that exit code.
func endedCommand(ts *testscript.TestScript, _ bool, args []string) {
	s := stageOf(ts).service(ts, args[0])
	select {
	case err := <-s.ended:
		s.ended <- err
	case <-time.After(scriptTimeout):
		ts.Fatalf("%s goes on\n%s", args[0], ts.ReadFile(s.err))
	}
	delete(stageOf(ts).services, args[0])
	if got := strconv.Itoa(s.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("exit code %s, want %s\n%s", got, args[1], ts.ReadFile(s.err))
	}
}

// http STATUS METHOD PATH [JSON]: sends a request with KEY to BASE, or to a whole URL, and expects
// that status. The response goes to stdout, its id to ID.
func httpCommand(ts *testscript.TestScript, _ bool, args []string) {
	var body io.Reader
	if len(args) > 3 {
		body = strings.NewReader(args[3])
	}
	url := args[2]
	if !strings.Contains(url, "://") {
		url = ts.Getenv("BASE") + url
	}
	request, err := http.NewRequest(args[1], url, body)
	ts.Check(err)
	got := send(request, ts.Getenv("KEY"))
	ts.Check(got.err)
	receive(ts, got, args[0])
}

// send uses a new connection: a service that stops would wait for an idle one.
func send(request *http.Request, key string) (a answer) {
	transport := &http.Transport{DisableKeepAlives: true}
	request.Header.Set("Authorization", key)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return answer{err: err}
	}
	a.status = response.StatusCode
	a.body, a.err = io.ReadAll(response.Body)
	a.err = errors.Join(a.err, response.Body.Close())
	return a
}

func receive(ts *testscript.TestScript, a answer, want string) {
	if strconv.Itoa(a.status) != want {
		ts.Fatalf("status %d, want %s\n%s", a.status, want, a.body)
	}
	_, err := ts.Stdout().Write(a.body)
	ts.Check(err)
	var object struct{ ID string }
	if json.Unmarshal(a.body, &object) == nil && object.ID != "" {
		ts.Setenv("ID", object.ID)
	}
}

// begin-upload SET TMP: sends the first half of a file, and returns when the service has begun to
// store it in TMP.
func beginUploadCommand(ts *testscript.TestScript, _ bool, args []string) {
	reader, writer := io.Pipe()
	u := &slowUpload{body: writer, form: multipart.NewWriter(writer), answer: make(chan answer, 1)}
	request, err := http.NewRequest("POST", ts.Getenv("BASE")+"/resources", reader)
	ts.Check(err)
	request.Header.Set("Content-Type", u.form.FormDataContentType())
	key := ts.Getenv("KEY")
	go func() {
		a := send(request, key)
		_ = reader.CloseWithError(io.ErrClosedPipe)
		u.answer <- a
	}()
	stageOf(ts).upload = u
	ts.Check(u.form.WriteField("setId", args[0]))
	u.file, err = u.form.CreateFormFile("file", "letters.txt")
	ts.Check(err)
	_, err = io.WriteString(u.file, "first half, ")
	ts.Check(err)
	eventually(ts, "the upload arrives", func() bool {
		entries, err := os.ReadDir(ts.MkAbs(args[1]))
		ts.Check(err)
		return len(entries) > 0
	})
}

// finish-upload STATUS: sends the second half and expects that status. The response goes to stdout,
// its id to ID.
func finishUploadCommand(ts *testscript.TestScript, _ bool, args []string) {
	u := stageOf(ts).upload
	_, err := io.WriteString(u.file, "second half")
	ts.Check(errors.Join(err, u.form.Close(), u.body.Close()))
	a := <-u.answer
	stageOf(ts).upload = nil
	ts.Check(a.err)
	receive(ts, a, args[0])
}

// abandon-upload: drops an upload whose connection the service has closed without a response.
func abandonUploadCommand(ts *testscript.TestScript, _ bool, _ []string) {
	_ = stageOf(ts).upload.body.CloseWithError(io.ErrUnexpectedEOF)
	a := <-stageOf(ts).upload.answer
	stageOf(ts).upload = nil
	if a.err == nil {
		ts.Fatalf("the upload got an answer: %d %s", a.status, a.body)
	}
}

// key-from FILE: sets KEY to the key in the file.
func keyFromCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv("KEY", strings.TrimSpace(ts.ReadFile(args[0])))
}

// mode OCTAL FILE: expects these permissions of the file.
func modeCommand(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("mode %s, want %s", got, args[0])
	}
}

// newer FILE: sets the schema version of a metadata file to 1,000. For the record format see
// package bolt.
func newerCommand(ts *testscript.TestScript, _ bool, args []string) {
	db, err := bbolt.Open(ts.MkAbs(filepath.FromSlash(args[0])), 0o600, nil)
	ts.Check(err)
	ts.Check(errors.Join(db.Update(func(tx *bbolt.Tx) error {
		castagnoli, key := crc32.MakeTable(crc32.Castagnoli), []byte("schema")
		meta := tx.Bucket([]byte("meta"))
		record := bytes.Clone(meta.Get(key))
		fields := record[1+crc32.Size:]
		sum := func() uint32 { return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, fields) }
		if binary.BigEndian.Uint32(record[1:]) != sum() {
			return errors.New("the test does not know this record format")
		}
		binary.BigEndian.PutUint32(fields, 1000)
		binary.BigEndian.PutUint32(record[1:], sum())
		return meta.Put(key, record)
	}), db.Close()))
}
