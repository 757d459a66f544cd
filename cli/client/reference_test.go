package client

import (
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"labshelf/cli/client/reference"
	"labshelf/cli/exit"
	"labshelf/client"
)

func TestFindSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	one, two := s.newSet(t, "lab-one", "runs"), s.newSet(t, "lab-two", "more-runs")
	for id, title := range map[string]string{one.ID: "Laser/Runs: all", two.ID: "More"} {
		must[client.Set](t)(s.client.Sets.Edit(t.Context(), id, client.SetEdit{Title: &title}))
	}
	untitled(t, s, one.DataspaceID)
	old := must[client.Set](t)(s.client.Sets.Create(t.Context(), client.NewSet{Name: "old", Title: "more", DataspaceID: one.DataspaceID}))
	if err := s.client.Sets.Delete(t.Context(), old.ID); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		one.ID: one.ID, "runs": one.ID, "RUNS": one.ID, one.URL: one.ID, one.Resources: one.ID, s.server.URL + "/sets/" + one.ID: one.ID,
		"lab-one/runs": one.ID, "LAB-ONE/Laser/Runs: all": one.ID, one.DataspaceID + "/runs": one.ID, "laser/runs: ALL": one.ID,
		"More":         two.ID,                // active, with exactly this title
		"more":         two.ID,                // an active set comes before a deleted one with exactly this title
		"lab-one/more": old.ID, "old": old.ID, // by name, or by title if no other set has the title
		"lab-two/runs": "", "lab-two/old": "", "none": "", "lab-one/": "", "/runs": "", "": "", "lab-one//": "", "lab-one/ ": "", "/": "", " ": "", ":": "", "//": "",
	} {
		got, err := reference.FindSet(t.Context(), s.client, ref, client.Active)
		if got.ID != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s %q, %v; want %s", ref, got.ID, got.Name, err, want)
		}
	}
	if got, err := reference.FindSet(t.Context(), s.client, "More", client.Deleted); got.ID != old.ID {
		t.Errorf("among the deleted: %q, %v", got.Name, err)
	}
}

// untitled creates a set with an empty title. An empty reference must not match it.
func untitled(t *testing.T, s *service, dataspace string) client.Set {
	t.Helper()
	return must[client.Set](t)(s.client.Sets.Create(t.Context(), client.NewSet{Name: "untitled", DataspaceID: dataspace}))
}

// TestEmptyReferences: every command rejects an empty reference, and a reference with an empty
// part.
func TestEmptyReferences(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := must[client.Dataspace](t)(s.client.Dataspaces.Create(t.Context(), client.NewDataspace{Name: "imaging"}))
	set := untitled(t, s, d.ID)
	s.put(t, set.ID, "a.csv", "text")
	file := filepath.Join(t.TempDir(), "b.csv")
	write(t, file, "text")
	mary := must[client.User](t)(s.client.Users.Create(t.Context(), client.NewUser{Username: "mary"}))
	commands := [][]string{
		{"rm", "--set", "REF"}, {"rm", "REF"}, {"rm", "--dataspace", "REF"}, {"put", file, "REF"}, {"ls", "REF"}, {"ls", "--deleted", "REF"},
		{"harvest", "REF", t.TempDir()}, {"get", "REF", t.TempDir()}, {"cat", "REF"}, {"describe", "REF"}, {"describe", "--set", "a=b", "REF"},
		{"set", "ls", "REF"}, {"set", "edit", "REF", "--title", "x"}, {"link", "share", "REF"}, {"link", "request", "REF"}, {"metadata", "export", "REF", "-"},
		{"mv", "untitled:a.csv", "--to", "REF"}, {"cp", "untitled:a.csv", "--to", "REF"}, {"cp", "untitled:a.csv", "REF"}, {"mv", "untitled:a.csv", "REF"},
		{"watch", "REF"}, {"audit", "ls", "REF"}, {"versions", "REF"}, {"dataspace", "edit", "REF", "--title", "x"}, {"dataspace", "members", "REF"},
		{"grant", "member", "REF", "mary"}, {"folder", "rm", "REF"}, {"usage", "REF"}, {"restore", "--set", "REF"},
	}
	before := s.client
	for _, command := range commands {
		for _, ref := range []string{"imaging/", "imaging//", "/", "", " ", ":", "imaging/:a.csv", "/untitled"} {
			args := slices.Clone(command)
			for i, arg := range args {
				args[i] = strings.ReplaceAll(arg, "REF", ref)
			}
			if got := s.run(t, "", args...); got.error == nil {
				t.Errorf("%q: %+v", args, got)
			}
		}
	}
	for _, command := range [][]string{
		{"user", "rm", ""}, {"user", "edit", "", "--quota", "1GiB"}, {"grant", "admin", "imaging", ""}, {"revoke", "imaging", ""}, {"key", "ls", "--user", ""},
		{"key", "revoke", "--user", "", "x"}, {"key", "new", "--user", ""}, {"key", "revoke", ""}, {"usage", "--user", ""}, {"audit", "ls", "--user", ""},
		{"webhook", "add", "http://127.0.0.1:1/", "--dataspace", ""}, {"link", "ls", "--dataspace", ""}, {"link", "revoke", ""}, {"schema", "rm", ""}, {"schema", "rm", "imaging/"},
	} {
		if got := s.run(t, "", command...); got.error == nil {
			t.Errorf("%q: %+v", command, got)
		}
	}
	for id, state := range map[string]string{set.ID: must[client.Set](t)(before.Sets.Get(t.Context(), set.ID)).State, mary.ID: must[client.User](t)(before.Users.Get(t.Context(), mary.ID)).State} {
		if state != client.Active {
			t.Errorf("%s is %s", id, state)
		}
	}
	s.holds(t, set.ID, map[string]string{"a.csv": "text"})
}

// TestDestinations: cp and mv recognize a set as the destination, and do not use a local path as a
// name.
func TestDestinations(t *testing.T) {
	t.Parallel()
	s := start(t)
	runs, raw := s.newSet(t, "lab", "runs"), s.newSet(t, "imaging", "raw")
	for _, name := range []string{"2026/a.csv", "b.csv"} {
		s.put(t, runs.ID, name, name)
	}
	for _, to := range []string{"./", "../", ".", "..", "./b.csv", "../b.csv", "/tmp/b.csv", "~/b.csv", "a//b", "a/../b", "a/./b", " ", "a/ /b", "raw", "imaging", "raw/", "imaging/none", "imaging/"} {
		for _, verb := range []string{"cp", "mv"} {
			if got := s.run(t, "", verb, "runs:b.csv", to); got.error == nil {
				t.Errorf("%s to %q: %+v", verb, to, got)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "x.csv")
	write(t, file, "text")
	for _, name := range []string{".", "..", "./", "./x", "../x", "x/.", "x/", "x//y", " "} {
		for _, args := range [][]string{{"cp", "runs:b.csv", "--to", "raw", "--name", name}, {"mv", "runs:b.csv", "--to", "raw", "--name", name}, {"put", "--name", name, file, "raw"},
			{"put", "--under", name + "/x", file, "raw"}} {
			if got := s.run(t, "", args...); got.error == nil {
				t.Errorf("%q: %+v", args, got)
			}
		}
	}
	s.holds(t, runs.ID, map[string]string{"2026/a.csv": "2026/a.csv", "b.csv": "b.csv"})
	s.holds(t, raw.ID, map[string]string{})
	for _, c := range []struct{ from, to string }{
		{"runs:b.csv", "imaging/raw"}, {"runs:b.csv", "raw:c.csv"}, {"runs:2026/a.csv", "imaging/raw:d.csv"}, {"runs:2026/a.csv", raw.URL}, {"runs:2026/a.csv", "2027/"},
		{"runs:b.csv", "e.csv"}, {"runs:b.csv", "10:30.csv"}, {"runs:b.csv", raw.URL + ":g.csv"},
	} {
		if got := s.run(t, "", "cp", c.from, c.to); got.error != nil {
			t.Errorf("%s to %s: %+v", c.from, c.to, got)
		}
	}
	if got := s.run(t, "", "mv", "runs:10:30.csv", "imaging/raw/"); got.error != nil {
		t.Errorf("got %+v", got)
	}
	s.holds(t, runs.ID, map[string]string{"2026/a.csv": "2026/a.csv", "b.csv": "b.csv", "2027/a.csv": "2026/a.csv", "e.csv": "b.csv"})
	s.holds(t, raw.ID, map[string]string{"b.csv": "b.csv", "c.csv": "b.csv", "d.csv": "2026/a.csv", "2026/a.csv": "2026/a.csv", "g.csv": "b.csv", "10:30.csv": "b.csv"})
}

func TestFindResource(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	title := "at 10:30"
	must[client.Set](t)(s.client.Sets.Edit(t.Context(), set.ID, client.SetEdit{Title: &title}))
	colon, plain, gone := s.put(t, set.ID, "30:b", "text"), s.put(t, set.ID, "a/b c?d#e", "text"), s.put(t, set.ID, "gone", "text")
	s.put(t, set.ID, "twice", "1")
	s.put(t, set.ID, "twice", "2")
	if err := s.client.Resources.Delete(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	s.put(t, untitled(t, s, set.DataspaceID).ID, "x", "text")
	for ref, want := range map[string]string{
		plain.ID: plain.ID, plain.URL: plain.ID, plain.DataURL: plain.ID, plain.ViewDataURL: plain.ID, "runs:a/b c?d#e": plain.ID,
		"lab/runs:a/b c?d#e": plain.ID, set.ID + ":a/b c?d#e": plain.ID, set.URL + ":a/b c?d#e": plain.ID,
		"runs:30:b": colon.ID, "at 10:30:30:b": colon.ID, "lab/at 10:30:30:b": colon.ID, "runs:gone": gone.ID,
		"runs:twice": "", "runs": "", "runs:": "", ":x": "", "runs:none": "", set.URL: "", "": "", "lab/:x": "", ":": "", "/:x": "", "/": "", " :x": "", set.URL + ":": "",
	} {
		got, err := reference.FindResource(t.Context(), s.client, ref, client.Active)
		if got.ID != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s %q, %v; want %s", ref, got.ID, got.Name, err, want)
		}
	}
	if got, err := reference.FindResource(t.Context(), s.client, "runs:30:b", client.Deleted); got.ID != colon.ID {
		t.Errorf("%v, %v: want the active one, because no other one exists", got, err)
	}
	again := s.put(t, set.ID, "gone", "text")
	if got, err := reference.FindResource(t.Context(), s.client, "runs:gone", client.Active); got.ID != again.ID {
		t.Errorf("%v, %v: want the active one", got, err)
	}
	if got, err := reference.FindResource(t.Context(), s.client, "runs:gone", client.Deleted); got.ID != gone.ID {
		t.Errorf("%v, %v: want the deleted one", got, err)
	}
}

// TestForeignURL: a URL of another service is rejected, because a copy of this service has the same
// ids. The service itself may have another host name than the one that the client uses.
func TestForeignURL(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	foreign := "http://localhost:9/sets/" + set.ID
	if _, err := reference.FindSet(t.Context(), s.client, foreign, client.Active); !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), "belongs to another service") {
		t.Errorf("got %v", err)
	}
	s.intercept(func(w http.ResponseWriter, r *http.Request) { r.Host = "localhost:9"; on(w, r) })
	if got, err := reference.FindSet(t.Context(), s.client, foreign, client.Active); got.ID != set.ID {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestFindUserAndDataspace(t *testing.T) {
	t.Parallel()
	s := start(t)
	mary := must[client.User](t)(s.client.Users.Create(t.Context(), client.NewUser{Username: "Mary@lab.example"}))
	last := must[client.User](t)(s.client.Users.Create(t.Context(), client.NewUser{Username: "last"}))
	me := must[client.User](t)(s.client.Users.Me(t.Context()))
	for ref, want := range map[string]string{
		mary.ID: mary.ID, mary.URL: mary.ID, "mary@LAB.example": mary.ID, "last": last.ID, "": "", " ": "", "me": me.ID, "admin": me.ID, "nobody": "",
	} {
		if got, err := reference.FindUser(t.Context(), s.client, ref); got.ID != want || (err == nil) != (want != "") {
			t.Errorf("%q: %v, %v; want %s", ref, got, err, want)
		}
	}
	set := s.newSet(t, "lab", "runs")
	for ref, want := range map[string]string{
		"lab": set.DataspaceID, "LAB": set.DataspaceID, set.DataspaceID: set.DataspaceID, set.DataspaceURL + "/sets": set.DataspaceID,
		"runs": "", "la": "", "": "", set.URL: "", set.ID: "",
	} {
		if got, err := reference.FindDataspace(t.Context(), s.client, ref, client.Active); got.ID != want || (err == nil) != (want != "") {
			t.Errorf("%q: %v, %v; want %s", ref, got, err, want)
		}
	}
}
