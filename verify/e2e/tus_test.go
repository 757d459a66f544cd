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
)

// TestTusClient: tus-js-client sends a file over connections that break again and again, and gets the resource.
func TestTusClient(t *testing.T) {
	t.Parallel()
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
		t.Skipf("without Node and what npm ci in web brings: %v", missing)
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
	proxy, err := StartProxy(s.Address(), func(int) Limit {
		return Limit{Bytes: 100_000 + rand.Int64N(2<<20), How: []Ending{Close, Reset}[rand.IntN(2)]}
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "tus.mjs"), modules, "http://"+proxy.Addr()+"/v1/uploads", s.Key(), set, file)
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
		t.Errorf("%d cuts: too few to mean anything", cuts)
	}
	var made Resource
	if err := s.Call(t.Context(), "GET", "/resources/"+path.Base(strings.TrimSpace(string(out))), nil, &made); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	if made.SHA256 != hex.EncodeToString(sum[:]) || made.Name != "run 1.dat" {
		t.Errorf("it became %+v", made)
	}
	all := 0
	_, err = s.Walk(t.Context(), s.Base()+"/sets/"+set+"/resources", func(p Page) error {
		all += len(p.Data)
		return nil
	})
	if err != nil || all != 1 {
		t.Errorf("there are %d resources, %v", all, err)
	}
}
