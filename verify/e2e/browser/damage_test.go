package browser

import (
	"os"
	"path/filepath"
	"testing"

	"labshelf/verify/e2e"
)

// A file that is known to be damaged says so in its set and on its page. Who uploads it again, as a folder is uploaded a second time,
// sends it anew into its resource, without a question: nothing is lost.
func TestUploadHealsDamage(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"small.dat": 3000, "large.dat": 17 << 20} {
		s := open(t, "--hold-up-to=0")
		_, sid := s.place(t)
		path := filepath.Join(folder(t, "x", map[string]int{name: size}), name)
		rid := s.send(t, sid, path)
		digest := s.field(t, "/resources/"+rid, "sha256")
		if err := os.Truncate(filepath.Join(s.data, "blobs", digest[:2], digest), 1); err != nil {
			t.Fatal(err)
		}
		if err := s.Call(t.Context(), "GET", "/resources/"+rid+"/data", nil, nil); err == nil {
			t.Fatal("the damaged file was served")
		}
		v := s.visit(t)
		v.expect("status of 500")
		v.at("/resources/" + rid)
		v.signIn(s.Key())
		v.sees("damaged", "uploads the same file again")
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

// send uploads a file of the disk, as somebody else, and returns the id of its resource.
func (s *site) send(t *testing.T, setID, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // only read from
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(path)
	r, err := s.Upload(t.Context(), "POST", "/resources", e2e.File{SetID: setID, Name: name, Filename: name, Body: file, Size: info.Size()})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}
