package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// The same name in two normal forms: composed, as most systems send it, and decomposed, as macOS
// does.
const (
	composed   = "\u00dcbung"
	decomposed = "U\u0308bung"
)

// names lists the names of the files of a set.
func (d *onDrive) names() string {
	d.t.Helper()
	var names []string
	for _, r := range d.get("/sets/" + d.set + "/resources?order=name").data() {
		names = append(names, r.text("name"))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// TestDrivePathInEachForm tests that a path in another normal form leads to the existing file or
// folder, for every method.
func TestDrivePathInEachForm(t *testing.T) {
	t.Parallel()
	for _, forms := range [][2]string{{composed, decomposed}, {decomposed, composed}} {
		d, sent, other := sysadmin(t).newDrive(nil), forms[0], forms[1]
		file, asked := "/"+sent+".txt", "/"+other+".txt"
		d.dav("PUT", file, "content").want(http.StatusCreated)
		same(t, "its content", string(d.dav("GET", asked, "").want(http.StatusOK).body), "content")
		d.dav("PUT", asked, "next").want(http.StatusNoContent)
		d.dav("PROPFIND", asked, "", "Depth: 0").want(http.StatusMultiStatus)
		d.dav("PROPPATCH", asked, patchBody).want(http.StatusMultiStatus)
		same(t, "the files", d.names(), sent+".txt")
		d.dav("MKCOL", "/"+sent, "").want(http.StatusCreated)
		d.dav("MKCOL", "/"+other, "").want(http.StatusMethodNotAllowed)
		d.dav("MKCOL", "/"+other+"/below", "").want(http.StatusCreated)
		d.dav("PUT", "/"+other+"/"+other, "below").want(http.StatusCreated)
		d.dav("GET", "/"+sent+"/"+sent, "").want(http.StatusOK)
		same(t, "the files", d.names(), sent+".txt "+sent+"/"+other)
		token := d.dav("LOCK", file, lockBody).want(http.StatusOK).header.Get("Lock-Token")
		d.dav("PUT", asked, "locked").want(http.StatusLocked)
		d.dav("LOCK", asked, lockBody).want(http.StatusLocked)
		if text := string(d.dav("PROPFIND", asked, "", "Depth: 0").body); !strings.Contains(text, "activelock") {
			t.Errorf("its lock is missing:\n%s", text)
		}
		d.dav("UNLOCK", asked, "", "Lock-Token: "+token).want(http.StatusNoContent)
		d.dav("PUT", "/plain", "plain").want(http.StatusCreated)
		to := (&url.URL{Path: asked}).EscapedPath()
		d.dav("COPY", "/plain", "", "Destination: $"+to, "Overwrite: F").want(http.StatusPreconditionFailed)
		d.dav("COPY", "/plain", "", "Destination: $"+to).want(http.StatusNoContent)
		d.dav("MOVE", "/plain", "", "Destination: $"+(&url.URL{Path: "/" + other + "/moved"}).EscapedPath()).want(http.StatusCreated)
		d.dav("MOVE", "/"+sent, "", "Destination: $"+(&url.URL{Path: "/" + other + "/below/itself"}).EscapedPath()).want(http.StatusForbidden)
		d.dav("MOVE", "/"+other, "", "Destination: $/renamed").want(http.StatusCreated)
		names := []string{"renamed/" + other, "renamed/moved", sent + ".txt"}
		slices.Sort(names)
		same(t, "the files", d.names(), strings.Join(names, " "))
		d.dav("DELETE", "/renamed/"+sent, "").want(http.StatusNoContent)
		d.dav("MKCOL", "/"+sent+"2", "").want(http.StatusCreated)
		d.dav("PUT", "/"+other+"2/only", "").want(http.StatusCreated)
		d.dav("DELETE", "/"+other+"2/only", "").want(http.StatusNoContent)
		if text := string(d.dav("PROPFIND", "", "", "Depth: 1").body); strings.Count(text, "bung2/</D:href>") != 1 {
			t.Errorf("the folder is listed twice:\n%s", text)
		}
		d.dav("DELETE", asked, "").want(http.StatusNoContent)
		d.dav("GET", file, "").want(http.StatusNotFound)
	}
}

// TestDriveDistinguishesForms tests that if files of both forms exist, each path leads to the file
// with that form.
func TestDriveDistinguishesForms(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	d.upload(d.set, composed, "composed")
	d.upload(d.set, decomposed, "decomposed")
	same(t, composed, string(d.dav("GET", "/"+composed, "").want(http.StatusOK).body), "composed")
	same(t, decomposed, string(d.dav("GET", "/"+decomposed, "").want(http.StatusOK).body), "decomposed")
	d.upload(d.set, "\u00dce\u0301", "both forms in one name")
	d.upload(d.set, "U\u0308\u00e9", "likewise")
	d.dav("GET", "/\u00dc\u00e9", "").want(http.StatusNotFound)
}

// TestNamesInEachForm tests that ?name= and the folders of the HTTP API find a name in the other
// form if exactly one file or folder has it.
func TestNamesInEachForm(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	id := d.upload(d.set, composed+".txt", "content").text("id")
	d.upload(d.set, "in folder", "content", text("name", composed+"/"+decomposed))
	list := "/sets/" + d.set + "/resources?"
	count := func(query url.Values) string { return fmt.Sprint(len(d.get(list + query.Encode()).data())) }
	for _, name := range []string{composed, decomposed} {
		found := d.get(list + url.Values{"name": {name + ".txt"}}.Encode()).data()
		if len(found) != 1 || found[0].text("id") != id {
			t.Errorf("%+q finds %v", name, found)
		}
		for _, path := range []string{name + "/" + composed, name + "/" + decomposed} {
			same(t, "files named "+path, count(url.Values{"name": {path}}), "1")
		}
		same(t, "files in the folder", count(url.Values{"namePrefix": {name + "/"}}), "1")
		folder := d.get("/sets/" + d.set + "/folder?" + url.Values{"path": {name + "/"}}.Encode()).object()
		same(t, "counted", fmt.Sprint(folder["files"]), "1")
		d.send("POST", "/sets/"+d.set+"/folder", object{"path": name + "/"}).want(http.StatusConflict)
	}
	d.send("POST", "/sets/"+d.set+"/folder/move", object{"path": decomposed + "/", "toPath": "moved/"}).want(http.StatusOK)
	d.upload(d.set, decomposed+".txt", "another")
	for _, name := range []string{composed, decomposed} {
		same(t, "each has its own", count(url.Values{"name": {name + ".txt"}}), "1")
	}
}
