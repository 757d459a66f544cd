package handlers_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// crossing is a drive with a file and a folder in one dataspace, and a destination in another one.
type crossing struct {
	from, to *onDrive // an editor in both
	admin    *client
	editor   string            // id of the editor
	spaces   map[string]string // ids of the dataspaces of "from" and "to"
	source   string            // "/file" or "/folder"
}

// newCrossing creates a crossing whose destination contains a file or a folder.
func newCrossing(t *testing.T, source, there string) *crossing {
	t.Helper()
	from, to := sysadmin(t).newSpace(nil), sysadmin(t).newSpace(nil)
	editor := from.newMember("editor")
	to.send("POST", "/privileges", object{"userId": editor.id, "dataspaceId": to.dataspace, "role": "editor"}).want(http.StatusCreated)
	x := &crossing{admin: from.client, editor: editor.id, source: source, spaces: map[string]string{"from": from.dataspace, "to": to.dataspace}}
	drive := func(s *space) *onDrive {
		set := s.send("POST", "/sets", object{"name": s.name("set"), "dataspaceId": s.dataspace}).want(http.StatusCreated).object()
		return &onDrive{client: editor, set: set.text("id"), folder: "/dav/" + s.get("/dataspaces/"+s.dataspace).object().text("name") + "/" + set.text("name")}
	}
	x.from, x.to = drive(from), drive(to)
	fill := func(d *onDrive, path string) {
		if path == "/file" || path == "/at" {
			d.dav("PUT", path, d.folder+path).want(http.StatusCreated)
			return
		}
		path = strings.TrimSuffix(path, "/")
		for _, folder := range []string{path, path + "/sub", path + "/made"} {
			d.dav("MKCOL", folder, "").want(http.StatusCreated)
		}
		for _, name := range []string{"/both", "/sub/both", "/only in" + d.set} {
			d.dav("PUT", path+name, d.folder+path+name).want(http.StatusCreated)
		}
	}
	fill(x.from, source)
	fill(x.to, there)
	return x
}

// state returns the content of both sets: the names, versions and contents of all files, and the
// folders on the drive.
func (x *crossing) state() string {
	var all []string
	for _, d := range []*onDrive{x.from, x.to} {
		for _, r := range x.admin.get("/sets/" + d.set + "/resources?order=name").data() {
			all = append(all, fmt.Sprint(d.folder, " ", r["id"], " ", r["name"], " ", r["state"], " ", r["version"], " ", r["sha256"], r["digest"]))
		}
		for _, path := range []string{"", "/folder", "/folder/sub", "/folder/made", "/at", "/at/sub", "/at/made"} {
			as := d.as(x.admin)
			as.folder = d.folder
			all = append(all, fmt.Sprint(path, " ", as.dav("PROPFIND", path, "", "Depth: 0").status))
		}
	}
	return strings.Join(all, "\n")
}

// TestRefusedRelocationsChangeNothing tests that a COPY or MOVE that is refused for any reason
// changes neither source nor destination. The same request without that reason succeeds.
func TestRefusedRelocationsChangeNothing(t *testing.T) {
	oneNode(t)
	t.Parallel()
	long := strings.Repeat("t", 250)
	reasons := []struct {
		what    string
		want    int
		refuse  func(x *crossing)
		headers []string
		folders bool // only for folders
		to      string
	}{
		{what: "over the quota of the dataspace", want: 507, refuse: func(x *crossing) {
			x.admin.send("PUT", "/dataspaces/"+x.spaces["to"], object{"quota": 1}).want(http.StatusOK)
		}},
		{what: "over the quota of the user", want: 507, refuse: func(x *crossing) {
			x.admin.send("PUT", "/users/"+x.editor, object{"quota": 1}).want(http.StatusOK)
		}},
		{what: "no role at the destination", want: 403, refuse: func(x *crossing) { x.role("to", "member") }},
		{what: "no role at the source", want: 404, refuse: func(x *crossing) { x.role("from", "") }},
		{what: "stale If-Match", want: 412, headers: []string{`If-Match: "old"`}},
		{what: "stale tag in If", want: 412, headers: []string{`If: (["old"])`}},
		{what: "stale tag of the destination in If", want: 412, headers: []string{`If: <$/at> (["old"])`}},
		{what: "an unmodified since that has passed", want: 412, headers: []string{"If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT"}},
		{what: "not to be overwritten", want: 412, headers: []string{"Overwrite: F"}},
		{what: "locked", want: 423, refuse: func(x *crossing) {
			as := x.to.as(x.admin)
			as.folder = x.to.folder
			as.dav("LOCK", "/at", lockBody).want(http.StatusOK)
		}},
		{what: "name too long", want: 400, folders: true, refuse: func(x *crossing) {
			x.from.upload(x.from.set, "x", "long", text("name", "folder/sub/"+strings.Repeat("n", 4080)))
		}, to: "/" + long},
		{what: "none", want: 204},
	}
	for _, method := range []string{"COPY", "MOVE"} {
		for _, source := range []string{"/file", "/folder"} {
			for _, there := range []string{"/at", "/at/"} {
				var x *crossing // shared by requests that are refused because of their headers
				for _, reason := range reasons {
					if reason.folders && (source == "/file" || there == "/at/") || slices.Contains(reason.headers, "If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT") && source == "/folder" {
						continue
					}
					if x == nil || reason.refuse != nil {
						x = newCrossing(t, source, there)
					}
					if reason.refuse != nil {
						reason.refuse(x)
					}
					at := cmp.Or(reason.to, "/at")
					if reason.to != "" {
						x.to.dav("MOVE", "/at", "", "Destination: $"+at).want(http.StatusCreated)
					}
					before := x.state()
					headers := []string{"Destination: " + x.from.server.URL + x.to.folder + at}
					for _, h := range reason.headers {
						headers = append(headers, strings.ReplaceAll(h, "$/at", x.from.server.URL+x.to.folder+"/at"))
					}
					a := x.from.dav(method, source, "", headers...)
					what := fmt.Sprintf("%s of %s onto %s, %s", method, source, there, reason.what)
					if a.status != reason.want {
						t.Errorf("%s: %s, want %d", what, a.short(), reason.want)
					}
					after := x.state()
					if a.status >= 300 && after != before {
						t.Errorf("%s: refused with %d, but the state was\n%s\nand is\n%s", what, a.status, before, after)
					} else if a.status < 300 {
						x.arrived(t, what)
					}
					if t.Failed() {
						return // every later case would fail in the same way, and takes seconds
					}
					if reason.refuse != nil {
						x = nil
					}
				}
			}
		}
	}
}

// role gives the editor another role in a dataspace, or none.
func (x *crossing) role(in, role string) {
	x.admin.t.Helper()
	(&space{client: x.admin, dataspace: x.spaces[in]}).newRole(x.from.client, role)
}

// arrived checks that the destination equals the former source.
func (x *crossing) arrived(t *testing.T, what string) {
	t.Helper()
	if x.source == "/file" {
		same(t, what, string(x.to.dav("GET", "/at", "").body), x.from.folder+"/file")
		same(t, what+": below the former folder", x.to.dav("GET", "/at/both", "").status, http.StatusNotFound)
		return
	}
	for _, name := range []string{"/both", "/sub/both", "/only in" + x.from.set} {
		same(t, what+": "+name, string(x.to.dav("GET", "/at"+name, "").body), x.from.folder+"/folder"+name)
	}
	same(t, what+": the empty folder", x.to.dav("PROPFIND", "/at/made", "", "Depth: 0").status, http.StatusMultiStatus)
	for _, r := range x.admin.get("/sets/" + x.to.set + "/resources").data() {
		if r.text("name") == "at" {
			t.Errorf("%s: the file at the destination exists", what)
		}
	}
}
