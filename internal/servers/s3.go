package servers

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"go/build"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// The S3 server: a gateway over a folder, written in Go, which is installed as a Go module. It
// checks signatures and checksums strictly, and enforces part sizes.
const (
	s3Package = "github.com/versity/versitygw"
	s3Version = "v1.8.0"
)

// S3 is an S3 server over its own folder, on one loopback port, without TLS. Bucket names are in
// the path of an address.
//
// Its methods can be called by one goroutine at a time, except Endpoint.
type S3 struct {
	Region, AccessKey, SecretKey string

	folder  string
	port    int
	buckets atomic.Int64
	process *process // nil while the server is stopped
}

// NewS3 creates and starts a server. The error is ErrMissing if the program is not installed. The
// caller closes it.
func NewS3() (_ *S3, err error) {
	if _, err := s3Program(); err != nil {
		return nil, err
	}
	s := &S3{Region: "eu-central-1", AccessKey: "labshelf", SecretKey: "not-a-secret-either"}
	if s.folder, err = os.MkdirTemp("", "s3-"); err != nil {
		return nil, err
	}
	err = errors.Join(os.Mkdir(s.data(), 0o700), os.Mkdir(s.attributes(), 0o700))
	if err == nil {
		s.port, err = freePort()
	}
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// StartS3 is like NewS3, for a test. It closes the server when the test ends, and skips the test if
// the program is not installed.
func StartS3(tb testing.TB) *S3 {
	tb.Helper()
	s, err := NewS3()
	need(tb, err)
	closing(tb, s)
	return s
}

// s3Program returns the path of the program that go install has built. Other versions are ignored.
func s3Program() (string, error) {
	path := filepath.Join(build.Default.GOPATH, "bin", "versitygw")
	info, err := buildinfo.ReadFile(path)
	if err == nil && info.Main.Version != s3Version {
		err = errors.New("it is " + info.Main.Version)
	}
	if err != nil {
		return "", fmt.Errorf("%s@%s %w (go install %[1]s/cmd/versitygw@%[2]s): %[4]w", s3Package, s3Version, ErrMissing, err)
	}
	return path, nil
}

func (s *S3) data() string       { return filepath.Join(s.folder, "data") }
func (s *S3) attributes() string { return filepath.Join(s.folder, "attributes") }
func (s *S3) log() string        { return filepath.Join(s.folder, "log") }

// Endpoint returns the URL of the server, which stays the same after Kill and Start.
func (s *S3) Endpoint() string { return "http://" + loopback(s.port) }

// Log returns the end of the server's log.
func (s *S3) Log() string { return tail(s.log()) }

// Start starts the server again, and returns when it accepts requests.
func (s *S3) Start() error {
	program, err := s3Program()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "--port", loopback(s.port), "--region", s.Region, "--access", s.AccessKey, "--secret", s.SecretKey,
		"--keep-alive", "--quiet", "--health", "/health", "posix")
	if !keepsAttributes(s.data()) {
		cmd.Args = append(cmd.Args, "--sidecar", s.attributes())
	}
	cmd.Args = append(cmd.Args, s.data())
	cmd.Env, cmd.Dir = environment(), s.folder
	if s.process, err = start(cmd, s.log(), syscall.SIGKILL); err != nil {
		return err
	}
	if err = s.process.until(s.ready, s.log()); err != nil {
		err = errors.Join(err, s.Kill())
	}
	return err
}

func (s *S3) ready() bool {
	// so that no connection outlives the check
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(s.Endpoint() + "/health")
	return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// Kill ends the server with SIGKILL, like a crash.
func (s *S3) Kill() error {
	if s.process == nil {
		return nil
	}
	err := s.process.signal(os.Kill)
	s.process = nil
	return err
}

// Close ends the server and removes its folder.
func (s *S3) Close() error { return errors.Join(s.Kill(), os.RemoveAll(s.folder)) }

// NewBucket creates an empty bucket and returns its name.
func (s *S3) NewBucket() (string, error) {
	name := fmt.Sprintf("bucket-%d", s.buckets.Add(1))
	return name, os.Mkdir(filepath.Join(s.data(), name), 0o700) // for this server, a bucket is a folder
}

// Bucket is like NewBucket, for a test.
func (s *S3) Bucket(tb testing.TB) string {
	tb.Helper()
	name, err := s.NewBucket()
	need(tb, err)
	return name
}

// Folder returns the folder with the objects of a bucket, as files named by their keys. Tests can
// read or damage them without the server.
func (s *S3) Folder(bucket string) string { return filepath.Join(s.data(), bucket) }
