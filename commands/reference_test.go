package commands

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"labshelf/client"
	"labshelf/commands/exit"
	"labshelf/commands/reference"
)

func TestFindSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	one, two := s.newSet(t, "lab-one", "runs"), s.newSet(t, "lab-two", "more-runs")
	for id, title := range map[string]string{one.ID: "Laser/Runs: all", two.ID: "More"} {
		must[client.Set](t)(s.client.EditSet(t.Context(), id, client.SetEdit{Title: &title}))
	}
	old := must[client.Set](t)(s.client.NewSet(t.Context(), client.NewSet{Name: "old", Title: "more", DataspaceID: one.DataspaceID}))
	if err := s.client.DeleteSet(t.Context(), old.ID); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		one.ID: one.ID, "runs": one.ID, "RUNS": one.ID, one.URL: one.ID, one.Resources: one.ID, s.server.URL + "/sets/" + one.ID: one.ID,
		"lab-one/runs": one.ID, "LAB-ONE/Laser/Runs: all": one.ID, one.DataspaceID + "/runs": one.ID, "laser/runs: ALL": one.ID,
		"More":         two.ID,                // as it is written, and active
		"more":         two.ID,                // the active one before the one that has the very title
		"lab-one/more": old.ID, "old": old.ID, // by name, or where there is no other
		"lab-two/runs": "", "lab-two/old": "", "none": "", "lab-one/": "", "/runs": "", "": "",
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

func TestFindResource(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	title := "at 10:30"
	must[client.Set](t)(s.client.EditSet(t.Context(), set.ID, client.SetEdit{Title: &title}))
	colon, plain, gone := s.put(t, set.ID, "30:b", "text"), s.put(t, set.ID, "a/b c?d#e", "text"), s.put(t, set.ID, "gone", "text")
	s.put(t, set.ID, "twice", "1")
	s.put(t, set.ID, "twice", "2")
	if err := s.client.DeleteResource(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		plain.ID: plain.ID, plain.URL: plain.ID, plain.DataURL: plain.ID, plain.ViewDataURL: plain.ID, "runs:a/b c?d#e": plain.ID,
		"lab/runs:a/b c?d#e": plain.ID, set.ID + ":a/b c?d#e": plain.ID, set.URL + ":a/b c?d#e": plain.ID,
		"runs:30:b": colon.ID, "at 10:30:30:b": colon.ID, "lab/at 10:30:30:b": colon.ID, "runs:gone": gone.ID,
		"runs:twice": "", "runs": "", "runs:": "", ":x": "", "runs:none": "", set.URL: "", "": "",
	} {
		got, err := reference.FindResource(t.Context(), s.client, ref, client.Active)
		if got.ID != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s %q, %v; want %s", ref, got.ID, got.Name, err, want)
		}
	}
	if got, err := reference.FindResource(t.Context(), s.client, "runs:30:b", client.Deleted); got.ID != colon.ID {
		t.Errorf("%v, %v: want the active one, since there is no other", got, err)
	}
	again := s.put(t, set.ID, "gone", "text")
	if got, err := reference.FindResource(t.Context(), s.client, "runs:gone", client.Active); got.ID != again.ID {
		t.Errorf("%v, %v: want the active one", got, err)
	}
	if got, err := reference.FindResource(t.Context(), s.client, "runs:gone", client.Deleted); got.ID != gone.ID {
		t.Errorf("%v, %v: want the deleted one", got, err)
	}
}

// TestForeignURL: an address of another service is refused, since a copy of this one has the same ids. The service itself can have
// another name than the one under which it was found.
func TestForeignURL(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab", "runs")
	foreign := "http://localhost:9/sets/" + set.ID
	if _, err := reference.FindSet(t.Context(), s.client, foreign, client.Active); !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), "is on another service") {
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
	mary := must[client.User](t)(s.client.NewUser(t.Context(), client.NewUser{Username: "Mary@lab.example"}))
	last := must[client.User](t)(s.client.NewUser(t.Context(), client.NewUser{Username: "last"}))
	me := must[client.User](t)(s.client.Me(t.Context()))
	for ref, want := range map[string]string{
		mary.ID: mary.ID, mary.URL: mary.ID, "mary@LAB.example": mary.ID, "last": last.ID, "": me.ID, "me": me.ID, "admin": me.ID, "nobody": "",
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
