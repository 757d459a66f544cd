package pages

import (
	"strings"
	"testing"

	"labshelf/verify/e2e"
	"labshelf/verify/e2e/browser"
)

// Names, titles and descriptions are shown as text in every view.
func TestMetadataIsNotExecuted(t *testing.T) {
	t.Parallel()
	s := browser.Open(t)
	all := strings.Join(browser.Hostile, " ")
	did := s.Create(t, "/dataspaces", map[string]string{"name": "hostile", "title": browser.Hostile[0], "description": all, "origin": all})
	sid := s.Create(t, "/sets", map[string]string{"name": "hostile", "title": browser.Hostile[1], "description": all, "dataspaceId": did})
	ids := s.Put(t, sid, browser.Hostile...)
	for _, id := range ids {
		s.Do(t, "PATCH", "/resources/"+id, map[string]string{"description": all, "format": browser.Hostile[3]})
	}
	s.Do(t, "DELETE", "/resources/"+ids[0], nil)
	eve := s.Person(t, "eve", "editor", did)
	s.Do(t, "PUT", "/users/"+eve.ID, map[string]string{"fullname": browser.Hostile[1], "about": all})
	s.Do(t, "POST", "/users/me/keys", map[string]string{"label": browser.Hostile[1]})
	page, err := s.Upload(t.Context(), "POST", "/resources", e2e.File{SetID: sid, Name: "page.html", Filename: "page.html",
		Body: strings.NewReader("<!doctype html>" + all), Size: int64(len("<!doctype html>" + all))})
	if err != nil {
		t.Fatal(err)
	}
	v := s.SignedIn(t, s.Key(), "/")
	paths := []string{"/", "/dataspaces/" + did, "/dataspaces/" + did + "?view=files", "/dataspaces/" + did + "/members", "/sets/" + sid + "?state=all",
		"/trash", "/users", "/account", "/usage", "/resources/" + page.ID, "/resources/" + ids[0], "/resources/" + ids[1]}
	for _, path := range paths {
		v.At(path)
		v.Loaded()
		v.Until(`window.__hacked === undefined && !document.querySelector("main script, main iframe:not([sandbox]), main [onerror], main [onload], main [onfocus]")`)
	}
}
