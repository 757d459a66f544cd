package browser

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"labshelf/verify/e2e"
)

// Create creates a record and returns its id.
func (s *Site) Create(t *testing.T, path string, fields map[string]string) string {
	t.Helper()
	id, err := s.Make(t.Context(), path, fields)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// FileWith writes a file with this content and returns its path.
func FileWith(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Person is a user with a key.
type Person struct{ ID, Username, Key, keyID string }

// Person creates a user with a key. Unless role is "", the user gets this role in a dataspace.
func (s *Site) Person(t *testing.T, username, role, dataspaceID string) Person {
	t.Helper()
	id := s.Create(t, "/users", map[string]string{"username": username})
	var key struct{ ID, Key string }
	if err := s.Call(t.Context(), "POST", "/users/"+id+"/keys", map[string]string{"label": "browser"}, &key); err != nil {
		t.Fatal(err)
	}
	if role != "" {
		s.Do(t, "POST", "/privileges", map[string]string{"userId": id, "dataspaceId": dataspaceID, "role": role})
	}
	return Person{ID: id, Username: username, Key: key.Key, keyID: key.ID}
}

// Revoke revokes the key of a user.
func (s *Site) Revoke(t *testing.T, p Person) {
	t.Helper()
	s.Do(t, "DELETE", "/users/"+p.ID+"/keys/"+p.keyID, nil)
}

// NewSet creates a dataspace and a set in it.
func (s *Site) NewSet(t *testing.T) (dataspaceID, setID string) {
	t.Helper()
	dataspaceID = s.Create(t, "/dataspaces", map[string]string{"name": "lab-one", "title": "Laser lab"})
	return dataspaceID, s.Create(t, "/sets", map[string]string{"name": "runs", "title": "Runs of 2026", "dataspaceId": dataspaceID})
}

// Put uploads small files, each with its name as content.
func (s *Site) Put(t *testing.T, setID string, names ...string) (ids []string) {
	t.Helper()
	for _, name := range names {
		r, err := s.Upload(t.Context(), "POST", "/resources",
			e2e.File{SetID: setID, Name: name, Filename: "file.txt", Body: strings.NewReader(name), Size: int64(len(name))})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	return ids
}

// PutMany creates n small files, named by a prefix and their number, several in parallel.
func (s *Site) PutMany(t *testing.T, setID, prefix string, n int) {
	t.Helper()
	var writers sync.WaitGroup
	const clients = 8
	for w := range clients {
		writers.Go(func() {
			for i := w; i < n; i += clients {
				name := fmt.Sprintf("%s%06d.txt", prefix, i)
				file := e2e.File{SetID: setID, Name: name, Filename: "a.txt", Body: strings.NewReader(name), Size: int64(len(name))}
				if _, err := s.Upload(t.Context(), http.MethodPost, "/resources", file); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
}

// Do sends a request that must succeed.
func (s *Site) Do(t *testing.T, method, path string, body any) {
	t.Helper()
	if err := s.Call(t.Context(), method, path, body, nil); err != nil {
		t.Fatal(err)
	}
}

// Field returns a field of the record at a path of the HTTP API.
func (s *Site) Field(t *testing.T, path, name string) (value string) {
	t.Helper()
	var record map[string]any
	if err := s.Call(t.Context(), "GET", path, nil, &record); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(record[name])
}

// Names returns the names of the active resources of a set, sorted.
func (s *Site) Names(t *testing.T, setID string) (names []string) {
	t.Helper()
	_, err := s.Walk(t.Context(), s.Base()+"/sets/"+setID+"/resources?order=name", func(p e2e.Page) error {
		for _, r := range p.Data {
			names = append(names, r.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Holds checks that a set contains active resources with exactly these names.
func (s *Site) Holds(t *testing.T, setID string, want []string) {
	t.Helper()
	slices.Sort(want)
	if got := s.Names(t, setID); !slices.Equal(got, want) {
		t.Errorf("the set contains %d files: %.200q; want %d: %.200q", len(got), got, len(want), want)
	}
}

// Send uploads a file over the HTTP API and returns the id of its resource.
func (s *Site) Send(t *testing.T, setID, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(path)
	r, err := s.Upload(t.Context(), "POST", "/resources", e2e.File{SetID: setID, Name: name, Filename: name, Body: file, Size: info.Size()})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// Overwrite replaces the file of a resource over the HTTP API.
func (s *Site) Overwrite(t *testing.T, rid, content string) {
	t.Helper()
	_, err := s.Upload(t.Context(), "PUT", "/resources/"+rid,
		e2e.File{Name: "a.txt", Filename: "theirs.txt", Body: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
}

// HoldsFile checks that a set contains exactly one file, with the content of the file at path.
func (s *Site) HoldsFile(t *testing.T, set, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	var found []string
	_, err = s.Walk(t.Context(), s.Base()+"/sets/"+set+"/resources", func(p e2e.Page) error {
		for _, r := range p.Data {
			found = append(found, r.SHA256)
		}
		return nil
	})
	if err != nil || !slices.Equal(found, []string{hex.EncodeToString(sum[:])}) {
		t.Errorf("the set contains %v, %v", found, err)
	}
}

// Arrives waits until the service has stored the given number of bytes of a resumable upload.
func (s *Site) Arrives(t *testing.T, bytes int64) {
	t.Helper()
	OneNode(t)
	err := poll(func() error {
		files, err := filepath.Glob(filepath.Join(s.Data, "parts", "*"))
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.Size() >= bytes {
				return nil
			}
		}
		return errors.Join(err, fmt.Errorf("fewer than %d bytes have arrived", bytes))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Folder creates a folder with files of random bytes. files maps their paths in the folder to their
// sizes.
func Folder(t *testing.T, name string, files map[string]int) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), name)
	random := rand.NewChaCha8([32]byte{1})
	for path, size := range files {
		content := make([]byte, size)
		_, _ = random.Read(content)
		at := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Many creates a folder "run" of n small files, and returns the names of their resources.
func Many(t *testing.T, n int) (root string, names []string) {
	t.Helper()
	files := map[string]int{}
	for i := range n {
		files[fmt.Sprintf("%03d.dat", i)] = 100 + i
		names = append(names, fmt.Sprintf("run/%03d.dat", i))
	}
	return Folder(t, "run", files), names
}

// FilledDataspace is a dataspace with the ids of its files.
type FilledDataspace struct {
	Dataspace string
	Files     []string
}

// DataspaceWith creates a dataspace with one set of files of these sizes.
func DataspaceWith(t *testing.T, s *Site, name, title string, sizes ...int) (h FilledDataspace) {
	t.Helper()
	h.Dataspace = s.Create(t, "/dataspaces", map[string]string{"name": name, "title": title})
	set := s.Create(t, "/sets", map[string]string{"name": name + "-set", "dataspaceId": h.Dataspace})
	for _, size := range sizes {
		body := strings.NewReader(strings.Repeat("x", size))
		file, err := s.Upload(t.Context(), http.MethodPost, "/resources", e2e.File{SetID: set, Filename: "run.txt", Body: body, Size: int64(size)})
		if err != nil {
			t.Fatal(err)
		}
		h.Files = append(h.Files, file.ID)
	}
	return h
}

// FileLimit limits the size of files that the service writes, in bytes or "unlimited", to simulate
// a full disk.
func (s *Site) FileLimit(t *testing.T, limit string) {
	t.Helper()
	if output, err := exec.Command("prlimit", "--pid", strconv.Itoa(s.PID()), "--fsize="+limit+":unlimited").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("prlimit: %v: %s", err, output)
		}
		t.Skipf("only Linux limits the files of another process: %v: %s", err, output)
	}
}

// Signal stops ("STOP") or continues ("CONT") the process of the service.
func (s *Site) Signal(t *testing.T, name string) {
	t.Helper()
	if output, err := exec.Command("kill", "-"+name, strconv.Itoa(s.PID())).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("kill: %v: %s", err, output)
		}
		t.Skipf("only Unix can stop a process: %v: %s", err, output)
	}
}

// Grouped formats a number like the pages, such as 1,000.
func Grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// Size returns the size of a test: the value of an environment variable, or usual.
func Size(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// OpenSet creates an open dataspace with a set and files.
func (s *Site) OpenSet(t *testing.T) (dataspaceID, setID string, files []string) {
	t.Helper()
	dataspaceID, setID = s.NewSet(t)
	s.Do(t, "PUT", "/dataspaces/"+dataspaceID, map[string]string{"visibility": "open"})
	s.Do(t, "PUT", "/sets/"+setID, map[string]any{"description": "What the laser saw.", "metadata": map[string]any{
		"creators": []any{map[string]string{"name": "Lovelace, Ada"}}, "licence": "CC-BY-4.0"}})
	return dataspaceID, setID, s.Put(t, setID, "run-1.txt", "run-2.txt", strings.Repeat("long", 40)+".txt")
}

// TestFile returns the content of a file in testdata, for example of another project.
func TestFile(t *testing.T, folder, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "testdata", folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
