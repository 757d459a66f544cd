package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/verify/e2e"
)

// TestIndex kills the service while 4 writers change indexed files, flips bits in the files of the
// index, and fills the disk of the index.
func TestIndex(t *testing.T) {
	try(t, row{name: "index", unit: "faults", tiny: 2, short: 4, long: 400, needs: []string{"linux", "root", "mount"}, run: indexFaults})
}

// Words of names and descriptions, and words of files. No word contains another one.
var (
	outerWords = strings.Fields("amber birch cedar delta ember fjord grove harbor inlet juniper")
	innerWords = strings.Fields("quartz basalt gneiss marble pumice")
)

// indexLimit is the maximum time in which an index must catch up or be rebuilt.
const indexLimit = time.Minute

// searched is a service whose search is tested.
type searched struct {
	*workload
	trial   *trial
	set     string
	bodies  sync.Map // words of the files, by SHA-256
	writers []*indexWriter
}

// indexWriter changes its own files.
type indexWriter struct {
	random *rand.Rand
	ids    []string
}

func indexFaults(ctx context.Context, t *trial) error {
	if _, err := t.build(ctx); err != nil {
		return err
	}
	for _, name := range []string{"kills", "flipped bits", "full disks", "answers compared", "answers while catching up", "answers refused"} {
		t.add(name, 0)
	}
	s := &searched{workload: &workload{program: t.program, data: filepath.Join(t.dir, "data")}, trial: t}
	if err := s.begin(ctx, t.random(-1)); err != nil {
		return err
	}
	for i := range t.units(ctx, t.size) {
		fault := s.kill
		if i%2 == 1 {
			fault = s.flip
		}
		err := fault(ctx, t.random(i))
		if err == nil {
			err = s.compare(ctx, t.random(i))
		}
		if err != nil {
			s.service.Kill()
			return fmt.Errorf("fault %d: %w", i, err)
		}
	}
	if err := errors.Join(s.stop(), clean(ctx, t.program, s.data)); err != nil {
		return err
	}
	full := &searched{workload: &workload{program: t.program, data: filepath.Join(t.dir, "full")}, trial: t}
	if err := full.fillDisk(ctx); err != nil {
		return err
	}
	t.add("wrong answers", 0)
	return nil
}

// begin starts a new service, and creates a set and the writers.
func (s *searched) begin(ctx context.Context, random *rand.Rand) error {
	if _, err := s.start(ctx); err != nil {
		return err
	}
	for range 4 {
		s.writers = append(s.writers, &indexWriter{random: rand.New(rand.NewPCG(random.Uint64(), 0))})
	}
	_, set, err := s.client.MakeSet(ctx, "set")
	s.set = set
	return err
}

// some returns a few words.
func some(random *rand.Rand, of []string, separator string) string {
	var all []string
	for range 1 + random.IntN(3) {
		all = append(all, of[random.IntN(len(of))])
	}
	return strings.Join(all, separator)
}

// create uploads a text file.
func (s *searched) create(ctx context.Context, name, text string) (record, error) {
	s.bodies.Store(digestOf([]byte(text)), text)
	return s.client.Upload(ctx, http.MethodPost, "/resources", e2e.File{
		SetID: s.set, Name: name, Filename: "file.txt", Body: strings.NewReader(text), Size: int64(len(text)),
	})
}

// change makes one change.
func (w *indexWriter) change(ctx context.Context, s *searched) error {
	name := some(w.random, outerWords, "_")
	if len(w.ids) == 0 || w.random.IntN(3) == 0 {
		r, err := s.create(ctx, name, some(w.random, innerWords, " ")+"\n")
		w.ids = append(w.ids, r.ID)
		return err
	}
	at := w.random.IntN(len(w.ids))
	path := "/resources/" + w.ids[at]
	switch w.random.IntN(4) {
	case 0:
		w.ids = slices.Delete(w.ids, at, at+1)
		return s.client.Call(ctx, http.MethodDelete, path, nil, nil)
	case 1:
		text := some(w.random, innerWords, "\n")
		s.bodies.Store(digestOf([]byte(text)), text)
		_, err := s.client.Upload(ctx, http.MethodPut, path, e2e.File{
			Name: name, Filename: "file.txt", Body: strings.NewReader(text), Size: int64(len(text)),
		})
		return err
	}
	return s.client.Call(ctx, http.MethodPatch, path, map[string]string{"name": name, "description": some(w.random, outerWords, ", ")}, nil)
}

// kill kills the service during writes, and starts it again.
func (s *searched) kill(ctx context.Context, random *rand.Rand) error {
	s.trial.add("kills", 1)
	var writing sync.WaitGroup
	for _, w := range s.writers {
		writing.Go(func() {
			for w.change(ctx, s) == nil { // until the service is killed
			}
		})
	}
	time.Sleep(20*time.Millisecond + time.Duration(random.IntN(200))*time.Millisecond)
	s.service.Kill()
	writing.Wait()
	_, err := s.start(ctx)
	return err
}

// flip flips a bit at a random position of the index files while the service is stopped.
func (s *searched) flip(ctx context.Context, random *rand.Rand) error {
	if err := s.stop(); err != nil {
		return err
	}
	folder := filepath.Join(s.data, "index")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var all [][]byte
	size := 0
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		all, size = append(all, content), size+len(content)
	}
	if size == 0 {
		return errors.New("the index has no files")
	}
	at := random.IntN(size)
	for i, content := range all {
		if at >= len(content) {
			at -= len(content)
			continue
		}
		content[at] ^= 1 << random.IntN(8)
		if err := os.WriteFile(filepath.Join(folder, entries[i].Name()), content, 0o600); err != nil {
			return err
		}
		break
	}
	s.trial.add("flipped bits", 1)
	_, err = s.start(ctx)
	return err
}

// file is the current state of a file, with the words that find it.
type file struct {
	name  string
	outer string
	inner string
}

// compare searches while the index catches up, and afterwards for all words. It reads the existing
// files from a listing.
func (s *searched) compare(ctx context.Context, random *rand.Rand) error {
	files := map[string]file{}
	_, err := s.client.Walk(ctx, "/resources?setId="+s.set+"&limit=1000", func(p e2e.Page) error {
		for _, r := range p.Data {
			text, ok := s.bodies.Load(r.SHA256)
			if !ok {
				return violated(nil, "no writer sent the file of %s", r.ID)
			}
			files[r.ID] = file{r.Name, r.Name + " " + r.Description, text.(string)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(indexLimit); ; {
		current, err := s.current(ctx)
		if err != nil {
			return err
		}
		if current {
			break
		}
		if time.Now().After(deadline) {
			return violated(nil, "the index did not catch up within %v", indexLimit)
		}
		if err := s.ask(ctx, files, outerWords[random.IntN(len(outerWords))], "", false); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond) // the rate of a person
	}
	for _, outer := range append(outerWords, "") {
		if err := s.ask(ctx, files, outer, innerWords[random.IntN(len(innerWords))], true); err != nil {
			return err
		}
		if err := s.ask(ctx, files, outer, "", true); err != nil {
			return err
		}
	}
	return nil
}

// current reports whether the index has processed all changes and texts, according to its status.
func (s *searched) current(ctx context.Context) (bool, error) {
	var status struct{ State, Texts string }
	err := s.client.Get(ctx, "/admin/index", &status)
	return status.State == "current" && status.Texts == "current", err
}

// ask compares the result of a search with the existing files. Files may be missing only if the
// answer reports that the index is behind. Found files must be correct in any case. A search may be
// refused while the index is not known to be current, and once afterwards, when the service notices
// damage.
func (s *searched) ask(ctx context.Context, files map[string]file, outer, inner string, current bool) error {
	query := "/search?order=oldest&limit=1000&q=" + url.QueryEscape(strings.TrimSpace("type:file "+outer+" "+inner))
	found := map[string]string{}
	for query != "" {
		a, err := s.client.SendJSON(ctx, http.MethodGet, query, nil)
		if err != nil {
			return err
		}
		if a.Status == http.StatusServiceUnavailable {
			s.trial.add("answers refused", 1)
			if !current {
				return nil
			}
			if err := s.caughtUp(ctx); err != nil {
				return err
			}
			return s.ask(ctx, files, outer, inner, current)
		}
		var page struct {
			Data []struct {
				Record record
			}
			NextPage string
			Behind   uint64
		}
		if err := a.Decode(&page); err != nil {
			return err
		}
		for _, hit := range page.Data {
			found[hit.Record.ID] = hit.Record.Name
		}
		if page.Behind > 0 {
			s.trial.add("answers while catching up", 1)
			if current {
				return violated(nil, "the status of the index is current, but the answer to %q reports that it is behind", query)
			}
			return truth(query, files, found)
		}
		query = page.NextPage
	}
	s.trial.add("answers compared", 1)
	for id, f := range files {
		if _, ok := found[id]; ok != (strings.Contains(f.outer, outer) && strings.Contains(f.inner, inner)) {
			return violated(nil, "%q %q: found %t: %s, %+v", outer, inner, ok, id, f)
		}
	}
	return truth(outer+" "+inner, files, found)
}

// truth checks that the found files exist with these names.
func truth(query string, files map[string]file, found map[string]string) error {
	for id, name := range found {
		if f, ok := files[id]; !ok || f.name != name {
			return violated(nil, "%s finds %s with the name %q, want %q", query, id, name, cmp.Or(f.name, "not there"))
		}
	}
	return nil
}

// caughtUp waits until the status of the index is current.
func (s *searched) caughtUp(ctx context.Context) error {
	for deadline := time.Now().Add(indexLimit); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if current, err := s.current(ctx); err != nil || current {
			return err
		}
	}
	return violated(nil, "the index did not catch up within %v", indexLimit)
}

// fillDisk gives the index its own disk, which becomes full before all files are indexed. The
// service must report that the index is behind. The index must catch up automatically when there is
// space again.
func (s *searched) fillDisk(ctx context.Context) (err error) {
	folder := filepath.Join(s.data, "index")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	unmount, err := tmpfs("size=64k")(ctx, s.trial, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmount()) }()
	random := s.trial.random(-2)
	if err := s.begin(ctx, random); err != nil {
		return err
	}
	defer s.service.Kill()
	s.trial.add("full disks", 1)
	if err := s.overflow(ctx, random); err != nil {
		return err
	}
	if err := execute(ctx, "mount", "-o", "remount,size=64m", folder); err != nil {
		return err
	}
	return errors.Join(s.compare(ctx, random), s.stop())
}

// overflow uploads files until the disk of the index is full. Then each answer must report that the
// index is behind.
func (s *searched) overflow(ctx context.Context, random *rand.Rand) error {
	for range 400 {
		var text strings.Builder
		for text.Len() < 60_000 {
			fmt.Fprintf(&text, "%x ", random.Uint64())
		}
		text.WriteString(some(random, innerWords, " "))
		if _, err := s.create(ctx, some(random, outerWords, "_"), text.String()); err != nil {
			return err
		}
		var status struct{ State, Failure string }
		if err := s.client.Get(ctx, "/admin/index", &status); err != nil {
			return err
		}
		if status.State != "failing" {
			continue
		}
		if _, err := s.create(ctx, "last", "nothing"); err != nil {
			return err
		}
		var page struct{ Behind uint64 }
		err := s.client.Get(ctx, "/search?q=last", &page)
		if err == nil && page.Behind == 0 {
			err = violated(nil, "the disk of the index is full (%s), but a search does not report that it is behind", status.Failure)
		}
		return err
	}
	return errors.New("the disk of the index does not become full")
}
