package handlers_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"labshelf/auth/errs"
)

// level returns all pages of one level of a set: names of files and paths of folders, in the order
// of a listing.
func (c *client) level(set, query string, descending bool) (all []string) {
	c.t.Helper()
	c.walk("/sets/"+set+"/resources?delimiter=/&"+query, func(page *answer) {
		o := page.object()
		var names []string
		for _, r := range page.data() {
			names = append(names, r.text("name"))
		}
		folders, _ := o["folders"].([]any)
		for _, f := range folders {
			names = append(names, f.(map[string]any)["path"].(string))
		}
		slices.Sort(names)
		if descending {
			slices.Reverse(names)
		}
		all = append(all, names...)
		again := c.get(o.text("currentPage")).want(http.StatusOK)
		same(c.t, "currentPage fetched again", string(again.body), string(page.body))
	})
	return all
}

func TestFoldersInListings(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	for _, name := range []string{"a", "a/1", "a/2/x", "a/2/y", "a\"b/1", "b", "c/1", "d/1", "d/2"} {
		s.upload(set, "f.txt", name, text("name", name))
	}
	items, _ := s.walk("/sets/" + set + "/resources?namePrefix=d/")
	for _, r := range items {
		s.send("DELETE", "/resources/"+r.text("id"), nil).want(http.StatusNoContent)
	}
	more := s.upload(set, "f.txt", "c2", text("name", "c/2"))
	s.send("DELETE", "/resources/"+more.text("id"), nil).want(http.StatusNoContent)
	for _, c := range []struct{ query, want string }{
		{"", `a a"b/ a/ b c/`},
		{"state=all", `a a"b/ a/ b c/ d/`}, // c/, which exists in both states, is listed once
		{"state=deleted", "c/ d/"},
		{"namePrefix=a/", "a/1 a/2/"},
		{"namePrefix=a/2/", "a/2/x a/2/y"},
		{"namePrefix=a", `a a"b/ a/`},
		{"namePrefix=x/", ""},
		{"order=name-descending", `c/ b a/ a"b/ a`},
		{"order=name-descending&namePrefix=a/&state=all", "a/2/ a/1"},
		{"fields=metadata", `a a"b/ a/ b c/`},
	} {
		for limit := range 4 {
			query := c.query + fmt.Sprint("&limit=", limit+1)
			if got := strings.Join(s.level(set, query, strings.Contains(query, "descending")), " "); got != c.want {
				t.Errorf("%s lists %s, want %s", query, got, c.want)
			}
		}
	}
	page := string(s.get("/sets/" + set + "/resources?delimiter=/&namePrefix=" + url.QueryEscape(`a"`)).want(http.StatusOK).body)
	if _, shown, _ := strings.Cut(page, `"data": `); shown != "[],\n  \"folders\": [\n    {\"path\": \"a\\\"b/\"}\n  ],\n  \"end\": false\n}\n" {
		t.Errorf("a page with only a folder is %s", page)
	}
	s.bad("GET", "/sets/"+set+"/resources?delimiter=/&name=a", nil).problem(http.StatusBadRequest, "invalid_parameter", "delimiter")
}

func TestFolders(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, other := s.newSet(), s.newSet()
	for _, name := range []string{"a/1", "a/b/2", "a0", "c//1"} {
		s.upload(set, "f.txt", name, text("name", name))
	}
	folder, reader := "/sets/"+set+"/folder", s.newMember("member")
	same(t, "a folder", strings.Join(strings.Fields(string(reader.get(folder+"?path=a/").want(http.StatusOK).body)), ""), `{"path":"a/","files":2,"bytes":8,"bounded":false}`)
	s.bad("GET", folder+"?path=a/&path=c/", nil).problem(http.StatusBadRequest, "invalid_parameter", "path")
	same(t, "the set", s.get(folder).want(http.StatusOK).object()["files"], any(4.0))
	same(t, "made", s.send("POST", folder, object{"path": "made/"}).want(http.StatusCreated).object()["folders"], any(1.0))
	for _, c := range []struct {
		path   string
		body   object
		status int
		code   errs.Code
		field  string
	}{
		{"", object{"path": "made/"}, 409, "path_taken", "path"},
		{"", object{"path": "a/"}, 409, "path_taken", "path"},
		{"", object{"path": "x"}, 400, "invalid_field", "path"},
		{"", object{"path": "x//"}, 400, "invalid_field", "path"},
		{"", object{"path": "../"}, 400, "invalid_field", "path"},
		{"", object{"path": 1}, 400, "invalid_field", "path"},
		{"", object{"path": "x/", "toPath": "y/"}, 400, "unknown_field", "toPath"},
		{"/delete", object{}, 400, "invalid_field", "path"},
		{"/delete", object{"path": "nowhere/"}, 404, "not_found", "path"},
		{"/move", object{"path": "a/", "toPath": "y"}, 400, "invalid_field", "toPath"},
		{"/move", object{"path": "a/", "toPath": "a/z/"}, 409, "folder_within", "path"},
		{"/move", object{"path": "a/", "toPath": "made/"}, 409, "path_taken", "path"},
		{"/copy", object{"path": "a/", "toPath": "y/", "setId": "none"}, 404, "set_not_found", "setId"},
	} {
		s.bad("POST", folder+c.path, c.body).problem(c.status, c.code, c.field)
	}
	deep := strings.Repeat("f", 200) + "/"
	s.send("POST", folder, object{"path": "g0/" + strings.Repeat(deep, 19)}).want(http.StatusCreated)
	for _, change := range []string{"/copy", "/move"} { // a folder without files has a name, too
		s.bad("POST", folder+change, object{"path": "g0/", "toPath": "g1/" + strings.Repeat(deep, 19)}).problem(http.StatusBadRequest, "invalid_field", "path")
	}
	s.send("POST", folder+"/delete", object{"path": "g0/"}).want(http.StatusOK)
	gone := s.newSet()
	s.send("POST", "/sets/"+gone+"/folder", object{"path": "a/"}).want(http.StatusCreated)
	s.send("DELETE", "/sets/"+gone, nil).want(http.StatusNoContent)
	s.send("POST", "/sets/"+gone+"/folder/delete", object{"path": "a/"}).problem(http.StatusConflict, "parent_deleted", "setId")
	s.send("POST", "/sets/"+gone+"/folder/restore", object{"path": "a/"}).problem(http.StatusConflict, "parent_deleted", "setId")
	s.send("POST", "/sets/"+gone+"/many", object{"action": "copy", "ids": []string{"x"}, "folder": ""}).problem(http.StatusConflict, "parent_deleted", "setId")
	same(t, "a missing folder", s.get(folder + "?path=nowhere/").want(http.StatusOK).object()["files"], any(0.0))
	s.bad("GET", folder+"?path=nowhere", nil).problem(http.StatusBadRequest, "invalid_field", "path")
	s.bad("GET", "/sets/"+set+"/archive?folder=nowhere/", nil).problem(http.StatusNotFound, "not_found", "path")
	s.bad("GET", "/sets/"+set+"/archive?folder=a/&resource=x", nil).problem(http.StatusBadRequest, "invalid_parameter", "folder")
	for change, body := range map[string]object{"": {"path": "a/"}, "/delete": {"path": "a/"}, "/copy": {"path": "a/", "toPath": "z/"}, "/move": {"path": "a/", "toPath": "z/"}} {
		reader.send("POST", folder+change, body).want(http.StatusForbidden)
	}
	s.send("POST", folder+"/copy", object{"path": "a/", "toPath": "in/a/", "setId": other}).want(http.StatusOK)
	same(t, "the other set", strings.Join(s.level(other, "namePrefix=in/a/", false), " "), "in/a/1 in/a/b/")
	moved := s.send("POST", folder+"/move", object{"path": "a/", "toPath": "z/"}).want(http.StatusOK).object()
	same(t, "moved", fmt.Sprint(moved["path"], moved["files"], moved["setId"]), "z/2"+set)
	same(t, "after the move", strings.Join(s.level(set, "", false), " "), "a0 c/ made/ z/")
	deleted := s.send("POST", folder+"/delete", object{"path": "c/"}).want(http.StatusOK).object()
	undo := object{"path": "c/", "deletion": deleted["deletion"]}
	reader.send("POST", folder+"/restore", undo).want(http.StatusForbidden)
	s.send("POST", folder+"/restore", undo).want(http.StatusOK)
	same(t, "restored", strings.Join(s.level(set, "", false), " "), "a0 c/ made/ z/")
	s.send("POST", folder+"/delete", object{"path": "c/"}).want(http.StatusOK)
	s.send("POST", folder+"/delete", object{"path": "made/"}).want(http.StatusOK)
	same(t, "after deletions", strings.Join(s.level(set, "state=all", false), " "), "a0 c/ z/")
	zipped := unzipped(t, s.get("/sets/"+set+"/archive?folder=z/").want(http.StatusOK).body)
	same(t, "the zip of the folder", strings.Join(slices.Sorted(maps.Keys(zipped)), " "), "z/1 z/b/2")
}

// TestManyFiles tests that the answer has a result for each file, in the order of the request, and
// that callers without write permission cannot change any file.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, other := s.newSet(), s.newSpace(nil).newSet()
	var ids []string
	for _, name := range []string{"a/1", "a/2", "b"} {
		ids = append(ids, s.upload(set, "f.txt", name, text("name", name)).text("id"))
	}
	reader := s.newMember("member")
	for _, body := range []object{
		{"action": "delete", "ids": ids}, {"action": "restore", "ids": ids}, {"action": "move", "ids": ids, "folder": ""}, {"action": "copy", "ids": ids, "folder": "c/"},
		{"action": "copy", "ids": ids, "setId": other},
	} {
		reader.send("POST", "/sets/"+set+"/many", body).problem(http.StatusForbidden, "forbidden", "")
	}
	s.bad("POST", "/sets/"+set+"/many", object{"action": "purge", "ids": ids}).problem(http.StatusBadRequest, "invalid_field", "action")
	moved := s.send("POST", "/sets/"+set+"/many", object{"action": "move", "ids": []string{ids[2], "x", ids[0]}, "setId": other, "folder": "in/"}).want(http.StatusOK).object()
	same(t, "files that were moved", moved["done"], any(2.0))
	results := moved["results"].([]any)
	same(t, "results", len(results), 3)
	for i, want := range []struct{ id, code string }{{ids[2], ""}, {"x", "resource_not_found"}, {ids[0], ""}} {
		result := results[i].(map[string]any)
		code, _ := result["code"].(string)
		arrived, _ := result["resourceId"].(string)
		same(t, "result", fmt.Sprint(result["id"], code, arrived == ""), fmt.Sprint(want.id, want.code, want.code != ""))
	}
	same(t, "the other set", strings.Join(s.level(other, "namePrefix=in/", false), " "), "in/1 in/b")
	same(t, "the remaining files", strings.Join(s.level(set, "namePrefix=a/", false), " "), "a/2")
}

// TestOutline tests that each mark is the URL of a page, and that the outline accepts the same
// parameters as the listing.
func TestOutline(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	for _, name := range []string{"a", "b/1", "b/2", "c"} {
		s.upload(set, "f.txt", name, text("name", name))
	}
	path := "/sets/" + set + "/resources/outline"
	o := s.get(path + "?delimiter=/&limit=1").want(http.StatusOK).object()
	marks := o["marks"].([]any)
	same(t, "entries and marks", fmt.Sprint(o["total"], o["bounded"], len(marks)), "3 false 2")
	last := marks[1].(map[string]any)
	same(t, "the last mark", fmt.Sprint(last["index"], last["name"]), "2b/")
	same(t, "its page", s.get(last["page"].(string)).want(http.StatusOK).data()[0].text("name"), "c")
	byTime := s.get(path + "?limit=2").want(http.StatusOK).object()["marks"].([]any)[0].(map[string]any)
	same(t, "a mark by time has one", byTime["modified"] != nil && byTime["name"] == nil, true)
	same(t, "an empty one", fmt.Sprint(s.get(path + "?namePrefix=x").want(http.StatusOK).object()["marks"]), "[]")
	for query, field := range map[string]string{"order=size": "order", "since=x": "since", "x=1": "x", "name=a&delimiter=/": "delimiter"} {
		s.bad("GET", path+"?"+query, nil).problem(http.StatusBadRequest, "invalid_parameter", field)
	}
}
