package client

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"labshelf/client"
)

// TestLinkInvite: the printed URL gives the new user a role. Without a dataspace, it gives only an
// account.
func TestLinkInvite(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := must[client.Dataspace](t)(s.client.Dataspaces.Create(t.Context(), client.NewDataspace{Name: "lab-one"}))
	for _, tc := range []struct{ args, username, role string }{{"lab-one --role editor --label Ada", "ada", client.Editor}, {"", "bea", ""}} {
		got := s.run(t, "", append([]string{"link", "invite"}, strings.Fields(tc.args)...)...)
		if got.error != nil {
			t.Fatal(got.error)
		}
		answer, err := http.Post(strings.TrimSpace(got.out), "application/json", strings.NewReader(`{"username":"`+tc.username+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		var made struct{ Key, Role, DataspaceID string }
		if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || answer.StatusCode != http.StatusCreated || made.Key == "" || made.Role != tc.role || tc.role != "" && made.DataspaceID != d.ID {
			t.Errorf("%q: %s, %+v, %v", tc.args, answer.Status, made, err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if listed := s.run(t, "", "link", "ls").out; strings.Count(listed, "invitation") != 2 || strings.Count(listed, "1 of 1") != 2 {
		t.Error(listed)
	}
	for _, wrong := range []string{"--role editor", "lab-one", "lab-one --role owner", "lab-one lab-two --role editor"} {
		if got := s.run(t, "", append([]string{"link", "invite"}, strings.Fields(wrong)...)...); got.error == nil || got.out != "" {
			t.Errorf("%q: %q, %v", wrong, got.out, got.error)
		}
	}
}

// TestLinkShareAcceptsURLs: link share accepts the URL of a set, a folder or a file as a browser
// shows it.
func TestLinkShareAcceptsURLs(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab-one", "raw")
	file := s.put(t, set.ID, "2026 a/a.txt", "x")
	page := s.server.URL + "/sets/" + set.ID
	for ref, want := range map[string]string{
		page: "", page + "/": "", set.URL: "", page + "?folder=2026%20a%2F": "2026 a", page + "/2026 a/": "2026 a", "raw/2026 a/": "2026 a",
		s.server.URL + "/resources/" + file.ID: "file", set.URL + ":2026 a/a.txt": "file",
	} {
		got := s.run(t, "", "link", "share", ref, "--json")
		var l client.Link
		if got.error != nil || json.Unmarshal([]byte(got.out), &l) != nil {
			t.Errorf("%s: %v", ref, got)
			continue
		}
		if isFile := len(l.Resources) == 1; isFile != (want == "file") || !isFile && l.Folder != want || l.SetID != set.ID {
			t.Errorf("%s: %+v", ref, l)
		}
	}
	if got := s.run(t, "", "folder", "rm", page+"/2026 a/"); got.error != nil {
		t.Error(got)
	}
}
