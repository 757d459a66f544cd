package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/internal/cutproxy"
)

// TestTusClient tests that tus-js-client sends a file over connections that break repeatedly, and
// receives the id of the resource. Through a request link, without a key, it receives no id.
func TestTusClient(t *testing.T) {
	t.Parallel()
	for name, through := range map[string]bool{"with a key": false, "through a link": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sendByTusClient(t, through)
		})
	}
}

func sendByTusClient(t *testing.T, throughLink bool) {
	modules, err := filepath.Abs(filepath.Join("..", "..", "web", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	node, missing := exec.LookPath("node")
	if missing == nil {
		_, missing = os.Stat(filepath.Join(filepath.Dir(modules), "node_modules", "tus-js-client"))
	}
	if missing != nil && os.Getenv("CI") != "" {
		t.Fatalf("in CI this must run: %v", missing)
	}
	if missing != nil {
		t.Skipf("requires Node and the result of npm ci in web: %v", missing)
	}
	s := serve(t, filepath.Join(t.TempDir(), "data"))
	_, set, err := s.MakeSet(t.Context(), "tus")
	check(t, err)
	content := make([]byte, 12<<20)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(content) // never fails
	file := filepath.Join(t.TempDir(), "run 1.dat")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	proxy, err := cutproxy.Start(s.Address(), func(int) cutproxy.Limit {
		return cutproxy.Limit{Bytes: 100_000 + rand.Int64N(2<<20), How: []cutproxy.Ending{cutproxy.Close, cutproxy.Reset}[rand.IntN(2)]}
	})
	if err != nil {
		t.Fatal(err)
	}
	at, key, into, want := "/v1/uploads", s.Key(), set, "run 1.dat"
	if throughLink {
		var link struct{ Address string }
		check(t, s.Call(t.Context(), "POST", "/links", map[string]string{"kind": "request", "setId": set}, &link))
		at, key, into, want = strings.TrimPrefix(link.Address, strings.TrimSuffix(s.Base(), "/v1"))+"/uploads", "", "", "drop/"+time.Now().UTC().Format(time.DateOnly)+"/run 1.dat"
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "tus.mjs"), modules, "http://"+proxy.Addr()+at, key, into, file)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err := proxy.Close(); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	if _, cuts := proxy.Connections(); cuts < 6 {
		t.Errorf("%d cuts are too few for this test", cuts)
	}
	var all []Resource
	_, err = s.Walk(t.Context(), s.Base()+"/sets/"+set+"/resources", func(p Page) error {
		all = append(all, p.Data...)
		return nil
	})
	if err != nil || len(all) != 1 {
		t.Fatalf("got %d resources, %v", len(all), err)
	}
	sum, made := sha256.Sum256(content), all[0]
	if made.SHA256 != hex.EncodeToString(sum[:]) || made.Name != want {
		t.Errorf("the resource is %+v", made)
	}
	if said := path.Base(strings.TrimSpace(string(out))); throughLink && said != "null" || !throughLink && said != made.ID {
		t.Errorf("the client received the id %q", said)
	}
}
