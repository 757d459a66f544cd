package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRealInput stores a real tree in the repository: about ten thousand files of Go's own sources.
// Eight clients upload them concurrently. A harvester receives all of them, and later exactly the
// changes since then.
func TestRealInput(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	m := &mirror{t: t, service: serve(t, data), disk: goSources(t)}

	m.makeSets()
	m.uploadAll()
	m.harvest("/resources?state=all&limit=500")
	m.wantArrived(m.wantAll())
	m.compareFiles(m.arrived)

	// The harvester stores its URL across a restart of the service.
	check(t, m.service.Stop())
	old := m.service.Base()
	m.service = serve(t, data)
	m.kept = strings.Replace(m.kept, old, m.service.Base(), 1)

	want := m.change()
	m.harvest(m.kept)
	m.wantArrived(want)
	m.compareFiles(m.arrived)
	m.harvest(m.kept)
	m.wantArrived(nil)

	// A new listing returns the harvester's records, and the active files match the disk.
	harvested := m.known
	m.known = nil
	m.harvest("/resources?state=all&limit=500")
	if diff := cmp.Diff(harvested, m.known); diff != "" {
		t.Errorf("the incremental harvests (-) differ from the listing (+):\n%s", diff)
	}
	m.harvest("/resources")
	m.wantArrived(m.wantAll())
}

// mirror uploads a folder and its changes to the repository, and harvests them.
type mirror struct {
	t       *testing.T
	service *Service
	disk    map[string]string // name, the relative path, to the file on the disk
	sets    map[string]string // top directory to set id

	arrived []Resource      // records of the last harvest, in order
	known   map[string]fact // records of all harvests, by id
	kept    string          // the URL of the end of the last harvest
}

// fact holds the compared fields of a resource.
type fact struct {
	Name, SetID, State, SHA256 string
	Bytes                      int64
}

func factOf(r Resource) fact { return fact{r.Name, r.SetID, r.State, r.SHA256, r.Bytes} }

// goSources returns the files below $(go env GOROOT)/src, or of two of its folders with -short.
func goSources(t *testing.T) map[string]string {
	t.Helper()
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	check(t, err)
	root, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(goroot)), "src"))
	check(t, err)
	folders, least := []string{"."}, 5000
	if testing.Short() {
		folders, least = []string{"archive", "image"}, 100
	}
	files := map[string]string{}
	for _, folder := range folders {
		check(t, filepath.WalkDir(filepath.Join(root, folder), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			name, err := filepath.Rel(root, file)
			files[filepath.ToSlash(name)] = file
			return err
		}))
	}
	if len(files) < least {
		t.Fatalf("%d files below %s are too few for this test", len(files), root)
	}
	return files
}

// makeSets creates a set for each top directory, and one for files outside of directories.
func (m *mirror) makeSets() {
	m.t.Helper()
	dataspace, err := m.service.Make(m.t.Context(), "/dataspaces", map[string]string{"name": "go-sources"})
	check(m.t, err)
	m.sets = map[string]string{}
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(m.disk)) {
		if m.sets[top(name)] != "" {
			continue
		}
		fields := map[string]string{"name": setName(top(name), taken), "title": top(name), "dataspaceId": dataspace}
		m.sets[top(name)], err = m.service.Make(m.t.Context(), "/sets", fields)
		check(m.t, err)
	}
}

// top returns the top directory of a relative path, "src" if it has none.
func top(name string) string {
	if folder, _, ok := strings.Cut(name, "/"); ok {
		return folder
	}
	return "src"
}

// setName derives an unused set name from the name of a directory.
func setName(folder string, taken map[string]bool) string {
	legal := strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", r) {
			return r
		}
		return '-'
	}, strings.ToLower(folder))
	legal = fmt.Sprintf("%-2s", legal[:min(len(legal), 90)])
	legal = strings.ReplaceAll(legal, " ", "-")
	name := legal
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", legal, n)
	}
	taken[name] = true
	return name
}

func TestSetName(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for _, c := range [][2]string{
		{"archive", "archive"}, {"X", "x-"}, {"x", "x--2"}, {"", "--"}, {"Grüße", "gr--e"}, {"a b.c", "a-b-c"},
		{strings.Repeat("w", 200), strings.Repeat("w", 90)}, {strings.Repeat("w", 99), strings.Repeat("w", 90) + "-2"},
	} {
		if got := setName(c[0], taken); got != c[1] {
			t.Errorf("setName(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func (m *mirror) uploadAll() {
	m.t.Helper()
	eachOf(m.t, slices.Sorted(maps.Keys(m.disk)), func(name string) error {
		return m.upload(http.MethodPost, "/resources", name)
	})
}

// upload sends the file with this name, to its set or as a replacement to url.
func (m *mirror) upload(method, url, name string) (err error) {
	body, err := os.Open(m.disk[name])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	info, err := body.Stat()
	if err != nil {
		return err
	}
	file := File{Name: name, Filename: path.Base(name), Body: body, Size: info.Size()}
	if method == http.MethodPost {
		file.SetID = m.sets[top(name)]
	}
	_, err = m.service.Upload(m.t.Context(), method, url, file)
	return err
}

// harvest walks from url to the end, and stores the URL of the end.
func (m *mirror) harvest(url string) {
	m.t.Helper()
	m.arrived = nil
	kept, err := m.service.Walk(m.t.Context(), url, func(page Page) error {
		m.arrived = append(m.arrived, page.Data...)
		return nil
	})
	check(m.t, err)
	m.kept = kept
	if m.known == nil {
		m.known = map[string]fact{}
	}
	for _, r := range m.arrived {
		m.known[r.ID] = factOf(r)
	}
}

// wantAll returns the expected fields of every file on the disk, by name.
func (m *mirror) wantAll() map[string]fact {
	m.t.Helper()
	want := map[string]fact{}
	for name, file := range m.disk {
		digest, size, err := digestOfFile(file)
		check(m.t, err)
		want[name] = fact{name, m.sets[top(name)], "active", digest, size}
	}
	return want
}

// digestOfFile returns the SHA-256 of a file on the disk, in hex, and its size.
func digestOfFile(path string) (digest string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), size, errors.Join(err, file.Close())
}

// wantArrived fails the test unless the last harvest received exactly the wanted resources, each
// once.
func (m *mirror) wantArrived(want map[string]fact) {
	m.t.Helper()
	got := map[string]fact{}
	for _, r := range m.arrived {
		if _, twice := got[r.Name]; twice {
			m.t.Errorf("%s was received twice", r.Name)
		}
		got[r.Name] = factOf(r)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		m.t.Fatalf("wanted (-), received (+):\n%s", diff)
	}
}

// compareFiles downloads the file of each active resource and compares it with the disk. The file
// of a deleted resource must return 410.
func (m *mirror) compareFiles(resources []Resource) {
	m.t.Helper()
	eachOf(m.t, resources, func(r Resource) error {
		hash := sha256.New()
		err := m.service.Download(m.t.Context(), r.DataURL, hash)
		if r.State == "deleted" {
			var refused *StatusError
			if errors.As(err, &refused) && refused.Status == http.StatusGone {
				return nil
			}
			return fmt.Errorf("%s is deleted, but downloading its file returns: %w", r.Name, err)
		}
		if err != nil {
			return err
		}
		want, _, err := digestOfFile(m.disk[r.Name])
		if err != nil {
			return err
		}
		if got := hex.EncodeToString(hash.Sum(nil)); got != want {
			return fmt.Errorf("the downloaded file %s has the SHA-256 %s, want %s", r.Name, got, want)
		}
		return nil
	})
}

// change changes every twentieth file of the last harvest. In turn it replaces the file, deletes
// it, adds another one, or deletes and restores it. It returns the expected records of the next
// harvest, by name. It does not change Go's own folder: new content is written elsewhere.
func (m *mirror) change() map[string]fact {
	m.t.Helper()
	folder := m.t.TempDir()
	want, work := map[string]fact{}, []func() error{}
	for i := 0; i < len(m.arrived); i += 20 {
		r, to := m.arrived[i], filepath.Join(folder, fmt.Sprint(i))
		name, url, after := r.Name, "/resources/"+r.ID, factOf(r)
		switch len(work) % 4 {
		case 0:
			after.SHA256, after.Bytes = m.writeChanged(name, to)
			m.disk[name] = to
			work = append(work, func() error { return m.upload(http.MethodPut, url, name) })
		case 1:
			after.State = "deleted"
			delete(m.disk, name)
			work = append(work, func() error { return m.call(http.MethodDelete, url) })
		case 2:
			after.SHA256, after.Bytes = m.writeChanged(name, to)
			name += ".new"
			m.disk[name] = to
			work = append(work, func() error { return m.upload(http.MethodPost, "/resources", name) })
		case 3:
			work = append(work, func() error {
				return errors.Join(m.call(http.MethodDelete, url), m.call(http.MethodPost, url+"/restore"))
			})
		}
		after.Name = name
		want[name] = after
	}
	if len(work) < 12 {
		m.t.Fatalf("%d changes are too few for this test", len(work))
	}
	eachOf(m.t, work, func(do func() error) error { return do() })
	return want
}

// writeChanged writes the file with this name plus some text to a new file, and returns its digest
// and size.
func (m *mirror) writeChanged(name, to string) (digest string, size int64) {
	m.t.Helper()
	text, err := os.ReadFile(m.disk[name])
	check(m.t, err)
	check(m.t, os.WriteFile(to, append(text, "\nchanged\n"...), 0o600))
	digest, size, err = digestOfFile(to)
	check(m.t, err)
	return digest, size
}

func (m *mirror) call(method, url string) error {
	return m.service.Call(m.t.Context(), method, url, nil, nil)
}
