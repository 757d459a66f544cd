package pages

import (
	"os"
	"path/filepath"
	"testing"

	"labshelf/verify/e2e/browser"
)

// A damaged file is marked in its set and on its page. Uploading the same file repairs its resource
// without a confirmation.
func TestUploadRepairsDamage(t *testing.T) {
	t.Parallel()
	browser.OneNode(t)
	for name, size := range map[string]int{"small.dat": 3000, "large.dat": 17 << 20} {
		s := browser.Open(t, "--hold-up-to=0").InTabs(t)
		_, sid := s.NewSet(t)
		path := filepath.Join(browser.Folder(t, "x", map[string]int{name: size}), name)
		rid := s.Send(t, sid, path)
		digest := s.Field(t, "/resources/"+rid, "sha256")
		if err := os.Truncate(filepath.Join(s.Data, "blobs", digest[:2], digest), 1); err != nil {
			t.Fatal(err)
		}
		if err := s.Call(t.Context(), "GET", "/resources/"+rid+"/data", nil, nil); err == nil {
			t.Fatal("the damaged file was served")
		}
		v := s.SignedIn(t, s.Key(), "/resources/"+rid, "status of 500")
		v.Sees("damaged", "upload the same file again")
		v.At("/sets/" + sid)
		v.Sees(name, "damaged")
		v.Shot("damaged-in-set")
		v.Pick("Files to upload", path)
		v.Submit()
		v.Sees("All done", "1 sent")
		s.Holds(t, sid, []string{name})
		if got := s.Field(t, "/resources/"+rid, "damaged"); got != "<nil>" {
			t.Errorf("%s: damaged is %s", name, got)
		}
		healed := v.Window("/resources/" + rid)
		healed.Sees("Download")
		healed.SeesNot("damaged")
	}
}
