package repository_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/folders"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// TestPlacementsAtRandom copies, moves and deletes files and folders of three sets. It compares the
// result with a model, and all counters and versions with a check. PLACEMENTS is the number of
// operations.
func TestPlacementsAtRandom(t *testing.T) {
	t.Parallel()
	steps, err := strconv.Atoi(os.Getenv("PLACEMENTS"))
	if err != nil {
		steps = 100
	}
	seed := rand.Uint64()
	t.Log("seed", seed)
	m := newMoved(t)
	w := &placements{moved: m, r: rand.New(rand.NewPCG(seed, 0)), sets: []metadata.Set{m.Sets[0], m.Sets[1], m.away}}
	for range w.sets {
		w.model = append(w.model, map[string]string{})
	}
	for step := range steps {
		what := w.change()
		for i, set := range w.sets {
			want := []string{}
			for _, name := range slices.Sorted(maps.Keys(w.model[i])) {
				want = append(want, name+"="+w.model[i][name])
			}
			if got := m.tree(set); !slices.Equal(got, want) {
				t.Fatalf("step %d, %s: set %d has %q, want %q", step, what, i, got, want)
			}
		}
		if m.Sound(); t.Failed() {
			t.Fatalf("step %d, %s", step, what)
		}
	}
}

// placements is the repository and the model that TestPlacementsAtRandom compares.
type placements struct {
	*moved
	r     *rand.Rand
	sets  []metadata.Set
	model []map[string]string // content by name
	made  int
}

// change performs a random operation, and returns its description.
func (w *placements) change() string {
	from, to := w.r.IntN(len(w.sets)), w.r.IntN(len(w.sets))
	a, b := pick(w.r, []string{"a/", "b/", "c/"}), pick(w.r, []string{"a/", "b/", "c/"})
	move, name := w.r.IntN(2) == 0, a+pick(w.r, []string{"1", "2", "3"})
	switch w.r.IntN(8) {
	case 0, 1, 2:
		if _, there := w.model[from][name]; !there {
			w.Upload(w.sets[from], name)
			w.model[from][name] = name
			return "upload " + name
		}
		w.made++
		content := fmt.Sprint(w.made, strings.Repeat("+", w.made%12))
		r := w.Replace(w.find(from, name), content)
		_, err := w.Service.Files.Move(w.T.Context(), w.Admin, r.ID.String(), files.Destination{Name: name})
		w.OK(err)
		w.model[from][name] = content
		return "replace " + name
	case 3, 4:
		return w.placeFile(from, to, name, b+pick(w.r, []string{"1", "2", "3"}), move)
	case 5:
		w.Purge(maintenance.PurgeOptions{})
		return "purge"
	case 6:
		w.flush()
		return "flush"
	}
	return w.placeFolder(from, to, a, b, move)
}

func (w *placements) find(set int, name string) metadata.Resource {
	w.T.Helper()
	page, err := repositorytest.ListResources(w.T.Context(), w.Service, w.Admin, paging.SetResources, core.ListRequest{
		Container: w.sets[set].ID.String(), Selection: paging.Selection{Name: &name},
	})
	if w.OK(err); len(page.Items) != 1 {
		w.T.Fatalf("%d files are called %s", len(page.Items), name)
	}
	return page.Items[0]
}

func (w *placements) placeFile(from, to int, name, goal string, move bool) string {
	what := fmt.Sprintf("move (%v) %s of %d to %s of %d", move, name, from, goal, to)
	if _, there := w.model[from][name]; !there || from == to && name == goal {
		return "nothing"
	}
	place := files.Destination{SetID: w.sets[to].ID.String(), Name: goal}
	if _, there := w.model[to][goal]; there {
		place.Onto = w.find(to, goal).ID.String()
	}
	do := w.Service.Files.Copy
	if move {
		do = w.Service.Files.Move
	}
	_, err := do(w.T.Context(), w.Admin, w.find(from, name).ID.String(), place)
	w.OK(err)
	w.model[to][goal] = w.model[from][name]
	if move {
		delete(w.model[from], name)
	}
	return what
}

func (w *placements) placeFolder(from, to int, a, b string, move bool) string {
	existing := pick(w.r, []folders.Existing{folders.MergeExisting, folders.ReplaceExisting})
	if move {
		existing = folders.MergeExisting // only a copy replaces
	}
	what := fmt.Sprintf("move (%v, %d) %s of %d to %s of %d", move, existing, a, from, b, to)
	do := copyFolder
	if move {
		do = moveFolder
	}
	within := func(set int, folder string) []string {
		return slices.DeleteFunc(slices.Collect(maps.Keys(w.model[set])), func(name string) bool { return !strings.HasPrefix(name, folder) })
	}
	if len(within(from, a)) == 0 || from == to && a == b {
		return "nothing"
	}
	_, err := do(w.T.Context(), w.Service, w.Admin, folder(w.sets[from], a), folder(w.sets[to], b), existing)
	w.OK(err)
	if existing == folders.ReplaceExisting {
		for _, name := range within(to, b) {
			delete(w.model[to], name)
		}
	}
	for _, name := range within(from, a) {
		w.model[to][b+name[len(a):]] = w.model[from][name]
		if move {
			delete(w.model[from], name)
		}
	}
	return what
}
