package servers_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/internal/servers"
)

// curl sends a signed request, and returns the response with headers, followed by curl's error
// message, and the exit code.
func curl(t *testing.T, s *servers.S3, url string, args ...string) (string, int) {
	t.Helper()
	path, err := exec.LookPath("curl")
	if err != nil {
		servers.Missing(t, err)
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{"-sS", "-i", "--aws-sigv4", "aws:amz:" + s.Region + ":s3",
		"--user", s.AccessKey + ":" + s.SecretKey, "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "-H", "Expect:", url}, args...)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return stdout.String() + stderr.String(), cmd.ProcessState.ExitCode()
}

func TestS3(t *testing.T) {
	t.Parallel()
	s := servers.StartS3(t)
	bucket := s.Bucket(t)
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, bytes.Repeat([]byte("0123456789"), 1000), 0o600))
	object := s.Endpoint() + "/" + bucket + "/folder/name"
	if answer, _ := curl(t, s, object, "-T", file); !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Fatal(answer)
	}
	secret := s.SecretKey
	s.SecretKey = "wrong"
	if answer, _ := curl(t, s, object); !strings.HasPrefix(answer, "HTTP/1.1 403") {
		t.Error("the response to a wrong key is", answer)
	}
	s.SecretKey = secret
	must(t, s.Kill())
	if answer, code := curl(t, s, object); code == 0 {
		t.Error("the killed server answers:", answer)
	}
	must(t, s.Start())
	if answer, _ := curl(t, s, object, "-r", "5-9"); !strings.HasSuffix(answer, "\r\n\r\n56789") {
		t.Error("after the kill, the response is", answer)
	}
	if _, err := os.Stat(filepath.Join(s.Folder(bucket), "folder", "name")); err != nil {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := servers.StartS3(t)
	f := servers.StartFaults(t, s)
	bucket := s.Bucket(t)
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, bytes.Repeat([]byte("0123456789"), 1000), 0o600))
	object := f.Endpoint() + "/" + bucket + "/name"
	stored := func() bool {
		_, err := os.Stat(filepath.Join(s.Folder(bucket), "name"))
		return err == nil
	}
	put := func(fault servers.Fault, status string, code int, want bool) {
		t.Helper()
		_ = os.Remove(filepath.Join(s.Folder(bucket), "name"))
		f.Next(1, fault, func(r *http.Request) bool { return r.Method == http.MethodPut })
		if answer, got := curl(t, s, object, "-T", file); !strings.HasPrefix(answer, status) || got != code || stored() != want {
			t.Errorf("%+v: stored %t, exit code %d, response %s", fault, stored(), got, answer)
		}
	}
	const cut, short = 52, 18 // curl's codes for no response, and for a truncated body
	put(servers.Fault{Status: 503}, "HTTP/1.1 503", 0, false)
	put(servers.Fault{CutRequest: servers.At(1000)}, "curl: ", cut, false)
	put(servers.Fault{Status: 500, Done: true}, "HTTP/1.1 500", 0, true)
	put(servers.Fault{}, "HTTP/1.1 200", 0, true)

	get := func(fault servers.Fault, code int, want string, args ...string) {
		t.Helper()
		f.Next(1, fault, nil)
		if answer, got := curl(t, s, object, args...); !strings.Contains(answer, want) || got != code {
			t.Errorf("%+v: exit code %d, response %s", fault, got, answer)
		}
	}
	get(servers.Fault{CutAnswer: servers.At(7)}, short, "\r\n\r\n0123456curl")
	get(servers.Fault{Flip: servers.At(1)}, 0, "\r\n\r\n0\xce2345")
	get(servers.Fault{Rate: 100_000}, 0, "\r\n\r\n0123456789")
	get(servers.Fault{Header: map[string]string{"ETag": `"lie"`, "Last-Modified": ""}}, 0, "Etag: \"lie\"\r\n", "-I")
	if requests, spoiled := f.Count(); requests != 8 || spoiled != 7 {
		t.Errorf("the proxy counts %d requests, %d with faults", requests, spoiled)
	}
}
