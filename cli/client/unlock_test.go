package client

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"labshelf/client"
)

// TestUnlock: an admin lists and ends another user's locks of a file, a folder and a set. An editor
// only ends their own locks. A file below a locked folder shows that lock once.
func TestUnlock(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab-one", "raw")
	s.put(t, set.ID, "plan äü.txt", "x")
	s.put(t, set.ID, "2026/a.txt", "x")
	s.put(t, set.ID, "2026/b.txt", "x")
	editor := s.newEditor(t, "ada", set.DataspaceID)
	lock := func(path string) {
		const body = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>Ada on PC 3</D:owner></D:lockinfo>`
		r := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), "LOCK", s.server.URL+"/dav/lab-one/raw/"+path, strings.NewReader(body)))
		r.Header.Set("Authorization", editor)
		answer := must[*http.Response](t)(http.DefaultClient.Do(r))
		if err := answer.Body.Close(); err != nil || answer.StatusCode >= 300 {
			t.Fatal(path, answer.Status, err)
		}
	}
	lock("plan%20%C3%A4%C3%BC.txt")
	lock("2026/")
	for _, tc := range []struct{ args, want string }{
		{"lab-one/raw --list", "Locked lab-one/raw/2026 (by Ada on PC 3)\nLocked lab-one/raw/plan äü.txt (by Ada on PC 3)\n"},
		{"lab-one/raw/2026/ --list", "Locked lab-one/raw/2026 (by Ada on PC 3)\n"},
		{"raw:2026/a.txt", "Ended the lock of lab-one/raw/2026 (by Ada on PC 3)\n"},
		{"raw", "Ended the lock of lab-one/raw/plan äü.txt (by Ada on PC 3)\n"},
		{s.server.URL + "/sets/" + set.ID, "There are no locks.\n"},
	} {
		got := s.run(t, "", append([]string{"unlock"}, strings.Fields(tc.args)...)...)
		if got.error != nil || !slices.Equal(slices.Sorted(strings.Lines(got.out)), slices.Sorted(strings.Lines(tc.want))) {
			t.Errorf("%s: %v", tc.args, got)
		}
	}
	lock("2026/a.txt")
	other := client.New(s.base(), s.newEditor(t, "bea", set.DataspaceID))
	defer other.Close()
	locks := must[[]client.DriveLock](t)(other.Locks.List(t.Context(), "lab-one/raw/2026/a.txt"))
	if len(locks) != 1 {
		t.Fatal(locks)
	}
	if err := other.Locks.End(t.Context(), locks[0]); err == nil || !strings.Contains(err.Error(), "403") {
		t.Error("another editor ends the lock: ", err)
	}
	own := client.New(s.base(), editor)
	defer own.Close()
	if err := own.Locks.End(t.Context(), locks[0]); err != nil {
		t.Error(err)
	}
}

// newEditor creates a user who is an editor of a dataspace, and returns a key.
func (s *service) newEditor(t *testing.T, name, dataspace string) (key string) {
	t.Helper()
	u := must[client.User](t)(s.client.Users.Create(t.Context(), client.NewUser{Username: name}))
	must[client.Privilege](t)(s.client.Privileges.Grant(t.Context(), client.NewPrivilege{UserID: u.ID, DataspaceID: dataspace, Role: client.Editor}))
	return must[client.CreatedKey](t)(s.client.Keys.Create(t.Context(), u.ID, client.NewKey{Label: "drive"})).Secret
}
