package browser

import (
	"os"
	"path/filepath"
	"testing"
)

// A damaged file is marked in its set and on its page. An upload of the same file repairs its
// resource without a question.
func TestUploadRepairsDamage(t *testing.T) {
	t.Parallel()
	oneNode(t)
	for name, size := range map[string]int{"small.dat": 3000, "large.dat": 17 << 20} {
		s := open(t, "--hold-up-to=0").inTabs(t)
		_, sid := s.makeSet(t)
		path := filepath.Join(folder(t, "x", map[string]int{name: size}), name)
		rid := s.send(t, sid, path)
		digest := s.field(t, "/resources/"+rid, "sha256")
		if err := os.Truncate(filepath.Join(s.data, "blobs", digest[:2], digest), 1); err != nil {
			t.Fatal(err)
		}
		if err := s.Call(t.Context(), "GET", "/resources/"+rid+"/data", nil, nil); err == nil {
			t.Fatal("the damaged file was served")
		}
		v := s.signedIn(t, s.Key(), "/resources/"+rid, "status of 500")
		v.sees("damaged", "upload the same file again")
		v.at("/sets/" + sid)
		v.sees(name, "damaged")
		v.shot("damaged-in-set")
		v.pick("Files to upload", path)
		v.submit()
		v.sees("All done", "1 sent")
		s.holds(t, sid, []string{name})
		if got := s.field(t, "/resources/"+rid, "damaged"); got != "<nil>" {
			t.Errorf("%s: damaged is %s", name, got)
		}
		healed := v.window("/resources/" + rid)
		healed.sees("Download")
		healed.seesNot("damaged")
	}
}
