package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"
)

// program builds the executable once for all tests of the package.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "labshelf-e2e")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "labshelf")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	build := exec.Command("go", "build", "-o", path, "..")
	build.Stderr = os.Stderr
	return path, build.Run()
})

// TestMain removes the executable at the end.
func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// serve starts the real program on a free port, in the folder dir, with its data in data, and returns its address as
// host:port. It is stopped, and must stop well, at the end of the test.
func serve(t *testing.T, dir, data string, args ...string) (address string) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(path, append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, args...)...)
	server.Dir = dir
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	started, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		found := regexp.MustCompile(`http://([0-9.]+:\d+)/v1`)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if at := found.FindStringSubmatch(lines.Text()); at != nil {
				select {
				case started <- at[1]:
				default:
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		<-ended
		if err := server.Wait(); err != nil && runtime.GOOS != "windows" {
			t.Errorf("the service ended with %v", err)
		}
	})
	select {
	case address = <-started:
	case <-ended:
		t.Fatal("the service did not start")
	case <-time.After(30 * time.Second):
		t.Fatal("the service has not said in 30 s where it listens")
	}
	return address
}
