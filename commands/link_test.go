package commands

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"labshelf/client"
)

// TestLinkInvite: the address that it prints gives an account with the role, and one without a dataspace an account alone.
func TestLinkInvite(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := must[client.Dataspace](t)(s.client.NewDataspace(t.Context(), client.NewDataspace{Name: "lab-one"}))
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
