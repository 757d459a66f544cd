package browser

import (
	"strings"
	"testing"

	"labshelf/verify/e2e"
)

// Names, titles and descriptions are shown as text in every view.
func TestMetadataIsNotExecuted(t *testing.T) {
	t.Parallel()
	s := open(t)
	all := strings.Join(hostile, " ")
	did := s.create(t, "/dataspaces", map[string]string{"name": "hostile", "title": hostile[0], "description": all, "origin": all})
	sid := s.create(t, "/sets", map[string]string{"name": "hostile", "title": hostile[1], "description": all, "dataspaceId": did})
	ids := s.put(t, sid, hostile...)
	for _, id := range ids {
		s.call(t, "PATCH", "/resources/"+id, map[string]string{"description": all, "format": hostile[3]})
	}
	s.call(t, "DELETE", "/resources/"+ids[0], nil)
	eve := s.person(t, "eve", "editor", did)
	s.call(t, "PUT", "/users/"+eve.id, map[string]string{"fullname": hostile[1], "about": all})
	s.call(t, "POST", "/users/me/keys", map[string]string{"label": hostile[1]})
	page, err := s.Upload(t.Context(), "POST", "/resources", e2e.File{SetID: sid, Name: "page.html", Filename: "page.html",
		Body: strings.NewReader("<!doctype html>" + all), Size: int64(len("<!doctype html>" + all))})
	if err != nil {
		t.Fatal(err)
	}
	v := s.signedIn(t, s.Key(), "/")
	paths := []string{"/", "/dataspaces/" + did, "/dataspaces/" + did + "?view=files", "/dataspaces/" + did + "/members", "/sets/" + sid + "?state=all",
		"/trash", "/users", "/account", "/usage", "/resources/" + page.ID, "/resources/" + ids[0], "/resources/" + ids[1]}
	for _, path := range paths {
		v.at(path)
		v.loaded()
		v.until(`window.__hacked === undefined && !document.querySelector("main script, main iframe:not([sandbox]), main [onerror], main [onload], main [onfocus]")`)
	}
}
