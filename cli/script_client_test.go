package cli

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"labshelf/cli/process"
)

// upload SET NAME FILE: uploads a file with KEY to the set with that id. The id of the file goes to
// ID.
func uploadCommand(ts *testscript.TestScript, _ bool, args []string) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	ts.Check(form.WriteField("setId", args[0]))
	ts.Check(form.WriteField("name", args[1]))
	file, err := form.CreateFormFile("file", args[2])
	ts.Check(err)
	_, err = file.Write([]byte(ts.ReadFile(args[2])))
	ts.Check(errors.Join(err, form.Close()))
	request, err := http.NewRequest("POST", ts.Getenv("BASE")+"/resources", &body)
	ts.Check(err)
	request.Header.Set("Content-Type", form.FormDataContentType())
	got := send(request, ts.Getenv("KEY"))
	ts.Check(got.err)
	receive(ts, got, "201")
}

// as USER: runs the following commands as this user. The key in the file USER.key is passed in the
// environment.
func asCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv("LABSHELF_SERVER", ts.Getenv("BASE"))
	ts.Setenv("LABSHELF_KEY", strings.TrimSpace(ts.ReadFile(args[0]+".key")))
}

// watched TEXT: waits until the background command has written the text to watch.out.
func watchedCommand(ts *testscript.TestScript, _ bool, args []string) {
	s := stageOf(ts).service(ts, "watch")
	eventually(ts, "watch has written "+args[0], func() bool {
		return regexp.MustCompile(args[0]).MatchString(ts.ReadFile(s.out))
	})
}

// watch PROGRAM ARG...: starts a program in the background as the service "watch", with its output
// in watch.out and watch.err.
func backgroundCommand(ts *testscript.TestScript, _ bool, args []string) {
	s := &service{out: ts.MkAbs("watch.out"), err: ts.MkAbs("watch.err"), ended: make(chan error, 1)}
	path := args[0]
	if path == "labshelf" {
		path = process.Program
	}
	s.Cmd = exec.Command(path, args[1:]...)
	s.Dir, s.Env = ts.MkAbs("."), append(os.Environ(), "LABSHELF_SERVER="+ts.Getenv("LABSHELF_SERVER"), "LABSHELF_KEY="+ts.Getenv("LABSHELF_KEY"), "HOME="+ts.Getenv("HOME"))
	out, err := os.Create(s.out)
	ts.Check(err)
	problems, err := os.Create(s.err)
	ts.Check(err)
	s.Stdout, s.Stderr = out, problems
	ts.Check(s.Start())
	go func() { s.ended <- errors.Join(s.Wait(), out.Close(), problems.Close()) }()
	stageOf(ts).services["watch"] = s
}

// interrupt CODE ARG...: runs labshelf against a service that never answers, and sends SIGINT while
// it waits. SILENT is the address of that service, in the arguments and in the environment. Expects
// that exit code. stderr goes to interrupted.err.
func interruptCommand(ts *testscript.TestScript, _ bool, args []string) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	defer func() { ts.Check(silent.Close()) }()
	problems, err := os.Create(ts.MkAbs("interrupted.err"))
	ts.Check(err)
	address := "http://" + silent.Addr().String() + "/v1"
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "SILENT", address)
	}
	cmd := exec.Command(process.Program, args[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = ts.MkAbs("."), strings.NewReader("lsk_any\n"), problems
	cmd.Env = append(os.Environ(), "LABSHELF_SERVER="+address, "LABSHELF_KEY=lsk_any", "HOME="+ts.Getenv("HOME"))
	ts.Check(cmd.Start())
	waits, err := silent.Accept()
	ts.Check(err)
	ts.Check(cmd.Process.Signal(os.Interrupt))
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d (%v), want %s", code, err, args[0])
	}
	ts.Check(errors.Join(problems.Close(), waits.Close()))
}
