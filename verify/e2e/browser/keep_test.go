package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// What a form was not used to change stays as it is: who may read a public dataspace, and what others change meanwhile.
func TestEditKeepsTheRest(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	ctx := t.Context()
	if err := s.Call(ctx, "PUT", "/dataspaces/"+did, map[string]string{"visibility": "public"}, nil); err != nil {
		t.Fatal(err)
	}
	var mary struct {
		ID       string
		Fullname string
		Sysadmin bool
	}
	if err := s.Call(ctx, "POST", "/users", map[string]any{"username": "mary", "sysadmin": true}, &mary); err != nil {
		t.Fatal(err)
	}
	v := s.visit(t)
	v.expect("status of 412")
	v.at("/dataspaces/" + did)
	v.signIn(s.Key())
	v.press("Edit")
	v.fill("Title", "Laser lab, west")
	v.submit()
	v.until(`document.querySelector("h1").innerText.startsWith("Laser lab, west")`)
	var dataspace struct{ Title, Visibility string }
	if err := s.Call(ctx, "GET", "/dataspaces/"+did, nil, &dataspace); err != nil || dataspace.Visibility != "public" {
		t.Errorf("after another title it is %+v, %v", dataspace, err)
	}
	v.at("/users")
	v.press("Change mary")
	v.sees("Sysadmin")
	if err := s.Call(ctx, "PUT", "/users/"+mary.ID, map[string]any{"sysadmin": false}, nil); err != nil {
		t.Fatal(err)
	}
	v.fill("Full name", "Mary Jones")
	v.submit()
	v.sees("Mary Jones")
	if err := s.Call(ctx, "GET", "/users/"+mary.ID, nil, &mary); err != nil || mary.Sysadmin || mary.Fullname != "Mary Jones" {
		t.Errorf("after another name she is %+v, %v", mary, err)
	}
}

// Changing a name takes nothing back that was written of the user meanwhile; nor do line ends of another system count as a change.
func TestProfileKeepsTheRest(t *testing.T) {
	t.Parallel()
	s := open(t)
	did, _ := s.place(t)
	const lines = "first line\r\nsecond line"
	s.call(t, "PUT", "/dataspaces/"+did, map[string]string{"description": lines})
	mary := s.person(t, "mary", "admin", did)
	s.call(t, "PUT", "/users/"+mary.id, map[string]string{"fullname": "Mary", "about": lines})
	v := s.visit(t)
	v.expect("status of 412")
	v.at("/account")
	v.signIn(mary.key)
	v.sees("About you")
	s.call(t, "PUT", "/users/"+mary.id, map[string]string{"about": "looks after the laser"})
	v.fill("Full name", "Mary Jones")
	v.press("Save")
	v.sees("Saved.")
	var now struct{ Fullname, About, Description, Title string }
	if err := s.Call(t.Context(), "GET", "/users/"+mary.id, nil, &now); err != nil || now.Fullname != "Mary Jones" || now.About != "looks after the laser" {
		t.Errorf("after another name she is %+v, %v", now, err)
	}
	v.until(`document.querySelector("textarea").value === "looks after the laser"`)
	v.at("/dataspaces/" + did)
	v.press("Edit")
	v.fill("Title", "Laser lab, west")
	v.submit()
	v.until(`document.querySelector("h1").innerText.startsWith("Laser lab, west")`)
	if err := s.Call(t.Context(), "GET", "/dataspaces/"+did, nil, &now); err != nil || now.Description != lines {
		t.Errorf("after another title it is %+v, %v", now, err)
	}
}

// Who uploads a file in place of another one changes its bytes, and nothing that was written about it.
func TestReplaceKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, sid := s.place(t)
	rid := s.put(t, sid, "a.txt")[0]
	known := map[string]string{"description": "calibrated on Monday", "format": "LOG"}
	if err := s.Call(t.Context(), "PATCH", "/resources/"+rid, known, nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("other content"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := s.visit(t)
	v.at("/sets/" + sid)
	v.signIn(s.Key())
	v.pick("Files to upload", path)
	v.do(chromedp.SetValue(field("If a name is there already"), "replace"))
	v.submit()
	v.sees("Replace 1 file?", "gone for good")
	v.press("Replace")
	v.sees("All done", "1 sent")
	var after struct {
		Description, Format string
		Bytes               int
	}
	if err := s.Call(t.Context(), "GET", "/resources/"+rid, nil, &after); err != nil || after.Bytes != 13 {
		t.Errorf("the file is %+v, %v", after, err)
	}
	if after.Description != known["description"] || after.Format != known["format"] {
		t.Errorf("it lost what was known: %+v", after)
	}
}
