package client

import (
	"regexp"
	"strings"
	"testing"

	"labshelf/client"
)

// TestFolder creates, copies, moves and deletes folders, and restores them with the printed
// command. Arguments that are not folders are rejected.
func TestFolder(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := must[client.Dataspace](t)(s.client.Dataspaces.Create(t.Context(), client.NewDataspace{Name: "lab-one"}))
	set := must[client.Set](t)(s.client.Sets.Create(t.Context(), client.NewSet{Name: "runs", DataspaceID: d.ID}))
	must[client.Set](t)(s.client.Sets.Create(t.Context(), client.NewSet{Name: "other", DataspaceID: d.ID}))
	for _, name := range []string{"raw/a.txt", "raw/it's/b.txt"} {
		s.put(t, set.ID, name, name)
	}
	does := func(want string, args ...string) string {
		t.Helper()
		got := s.run(t, "", args...)
		if got.error != nil || !strings.Contains(got.out+got.err, want) {
			t.Fatalf("%q: %q, %v, %s", args, got.out, got.error, got.err)
		}
		return got.out
	}
	does("Made runs/raw/empty/.", "folder", "new", "runs/raw/empty/")
	does("Copied 2 files of runs/raw/ to kept/.", "folder", "cp", "runs/raw/", "lab-one/other/kept/")
	does("Moved 2 files of runs/raw/ to it's/raw/.", "folder", "mv", "runs/raw/", "runs/it's/raw/")
	said := does("Deleted 2 files of runs/it's/raw/.", "folder", "rm", "runs/it's/raw/")
	found := regexp.MustCompile(`labshelf folder restore '` + set.ID + `/it'\\''s/raw/' --deletion (\S+) --folder 'it'\\''s/raw/empty/'`).FindStringSubmatch(said)
	if found == nil {
		t.Fatal(said)
	}
	does("This folder is empty.", "ls", "runs/it's/")
	does("Restored 2 files of runs/it's/raw/.", "folder", "restore", set.ID+"/it's/raw/", "--deletion", found[1], "--folder", "it's/raw/empty/")
	if listed := does("a.txt", "ls", "runs/it's/raw/"); !strings.Contains(listed, "empty/") {
		t.Error(listed)
	}
	does("Made", "folder", "new", "runs/می\u200cخواهم's/")
	if said := does("Deleted 0 files", "folder", "rm", "runs/می\u200cخواهم's/"); !strings.Contains(said, `$'`+set.ID+`/می\U0000200cخواهم\'s/'`) {
		t.Error(said)
	}
	for wrong, want := range map[string]string{
		"restore runs/it's/ --deletion 1-2": "nothing was restored",
		"new runs/raw":                      "must end in a slash", "rm runs/": "name a folder", "rm nowhere/x/": "does not begin with a set", "rm runs/x/": "there is no folder", "mv runs/x/": "its destination",
		"mv runs/it's/ runs/it's/y/": "into itself", "restore runs/x/": "deletion",
	} {
		if got := s.run(t, "", append([]string{"folder"}, strings.Fields(wrong)...)...); got.error == nil || !strings.Contains(got.error.Error(), want) {
			t.Errorf("%q: %q, %v", wrong, got.out, got.error)
		}
	}
}
