package handlers_test

import (
	"net/http"
	"testing"

	"labshelf/auth/errs"
)

// TestCopyAndMove tests the answers to copy and move requests, including the codes of refusals.
// Package repository tests the rules.
func TestCopyAndMove(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set, other := s.newSet(), s.newSpace(nil).newSet()
	file := s.upload(set, "a.txt", "content")
	path := "/resources/" + file.text("id")
	copied := s.send("POST", path+"/copy", object{}).want(http.StatusCreated)
	copyID := copied.object().text("id")
	same(t, "Location", copied.header.Get("Location"), copied.object().text("url"))
	same(t, "name, set and SHA-256 of the copy", copied.object().text("name")+copied.object().text("setId")+copied.object().text("sha256"), "a.txt"+set+file.text("sha256"))
	renamed := s.send("POST", path+"/move", object{"name": "b.txt"}).want(http.StatusOK)
	same(t, "Location of a file that is renamed", renamed.header.Get("Location"), "")
	etag := renamed.header.Get("ETag")
	s.send("POST", path+"/move", object{"setId": other}, `If-Match: "x"`).problem(http.StatusPreconditionFailed, "precondition_failed", "")
	moved := s.send("POST", path+"/move", object{"setId": other}, "If-Match: "+etag).want(http.StatusCreated)
	same(t, "name of the moved file", moved.object().text("name"), "b.txt")
	left := s.get(path).want(http.StatusOK).object()
	same(t, "the old record", left.text("state")+left.text("movedTo"), "deleted"+moved.object().text("id"))
	s.get("/resources/" + moved.object().text("id") + "/data").want(http.StatusOK)
	s.get(path+"/data").problem(http.StatusGone, "resource_deleted", "")
	for name, tc := range map[string]struct {
		path   string
		body   any
		status int
		code   errs.Code
		field  string
	}{
		"no body":            {"/resources/" + copyID, nil, http.StatusBadRequest, "invalid_body", ""},
		"another field":      {"/resources/" + copyID, object{"onto": copyID}, http.StatusBadRequest, "unknown_field", "onto"},
		"a number":           {"/resources/" + copyID, object{"name": 1}, http.StatusBadRequest, "invalid_field", "name"},
		"no name":            {"/resources/" + copyID, object{"name": ""}, http.StatusBadRequest, "invalid_field", "name"},
		"no set":             {"/resources/" + copyID, object{"setId": ""}, http.StatusBadRequest, "invalid_field", "setId"},
		"an unknown set":     {"/resources/" + copyID, object{"setId": "x"}, http.StatusNotFound, "set_not_found", "setId"},
		"a moved file":       {path, object{"setId": other}, http.StatusConflict, "deleted", ""},
		"a missing file":     {"/resources/x", object{"name": ""}, http.StatusNotFound, "resource_not_found", ""},
		"a name of controls": {"/resources/" + copyID, object{"name": "a\x01"}, http.StatusBadRequest, "invalid_field", "name"},
	} {
		t.Log(name)
		for _, op := range []string{"/copy", "/move"} {
			s.bad("POST", tc.path+op, tc.body).problem(tc.status, tc.code, tc.field)
		}
	}
	s.send("PATCH", "/resources/"+copyID, object{"setId": other}).problem(http.StatusConflict, "resource_cannot_move", "setId")
}
