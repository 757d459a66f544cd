package handlers_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// TestVersions tests that the URL of a version always returns the same bytes. The listing has the
// newest version first, page by page. Restoring creates a new version of the same resource.
func TestVersions(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	editor, set := s.newMember("editor"), s.newSet()
	made := s.upload(set, "run.csv", "one")
	id := made.text("id")
	path, versions := "/resources/"+id, "/resources/"+id+"/versions"
	address := func(n int) string { return fmt.Sprintf("%s/%d", versions, n) }
	for n, content := range []string{"two", "three"} {
		replaced := editor.send("PUT", path, form(file("run.csv", content), text("description", content))).want(http.StatusOK).object()
		same(t, "version", replaced["version"], any(float64(n+2)))
		same(t, "id", replaced.text("id"), id)
	}
	contents := []string{"one", "two", "three"}
	for n, content := range contents {
		a := s.get(address(n+1) + "/data").want(http.StatusOK)
		same(t, "content", string(a.body), content)
		same(t, "ETag", a.header.Get("ETag"), `"sha256-`+sha256Hex(content)+`"`)
		same(t, "a range", string(s.get(address(n+1)+"/data", "Range: bytes=1-1").want(http.StatusPartialContent).body), content[1:2])
		s.get(address(n+1)+"/data", "If-None-Match: "+a.header.Get("ETag")).want(http.StatusNotModified)
		v := s.get(address(n + 1)).want(http.StatusOK).object()
		same(t, "sha256", v.text("sha256"), sha256Hex(content))
		same(t, "current", v["current"], any(n == 2))
		same(t, "dataUrl", v.text("dataUrl"), s.base+address(n+1)+"/data")
		same(t, "createdBy", v.text("createdBy") == editor.id, n > 0)
		same(t, "replacedBy", v.text("replacedBy") == editor.id, n < 2)
	}
	same(t, "the data of the resource", string(s.get(path+"/data").body), "three")
	items, _ := s.walk(versions + "?limit=2")
	var got []string
	for _, v := range items {
		got = append(got, fmt.Sprint(v["version"], v.text("description")))
	}
	same(t, "listing", strings.Join(got, " "), "3three 2two 1")
	listed := s.get("/sets/" + set + "/resources").data()
	same(t, "resources in the listing of the set", len(listed), 1)
	same(t, "their version", listed[0]["version"], any(float64(3)))

	before := s.get(path).header.Get("ETag")
	labelled := editor.send("PUT", address(1)+"/label", object{"label": "as published"}).want(http.StatusOK).object()
	same(t, "label", labelled.text("label"), "as published")
	same(t, "ETag after a label", s.get(path).header.Get("ETag"), before)
	editor.bad("PUT", address(1)+"/label", object{}).problem(400, errs.CodeMissingField, "label")
	editor.bad("PUT", address(1)+"/label", object{"label": "x", "other": 1}).problem(400, errs.CodeUnknownField, "other")
	editor.send("PUT", address(1)+"/label", object{"label": "x"}, `If-Match: "old"`).problem(412, errs.CodePrecondition, "")
	editor.send("POST", address(1)+"/restore", nil, `If-Match: "old"`).problem(412, errs.CodePrecondition, "")
	s.bad("GET", address(1)+"/data", nil, `If-Match: "old"`).problem(412, errs.CodePrecondition, "")
	s.bad("GET", address(1)+"/data", nil, "Range: bytes=100-").problem(416, errs.CodeRange, "")

	restored := editor.send("POST", address(1)+"/restore", nil, "If-Match: "+before).want(http.StatusOK)
	same(t, "the file after the restoration", string(s.get(path+"/data").body), "one")
	same(t, "its version", restored.object()["version"], any(float64(4)))
	again := editor.send("POST", address(1)+"/restore", nil).want(http.StatusOK)
	same(t, "restored twice", string(again.body), string(restored.body))
	for n, content := range contents {
		same(t, "content after the restoration", string(s.get(address(n+1)+"/data").body), content)
	}
	s.bad("GET", address(5), nil).problem(404, errs.CodeVersionNotFound, "")
	s.bad("GET", address(0)+"/data", nil).problem(404, errs.CodeVersionNotFound, "")
	s.bad("GET", versions+"?state=all", nil).problem(400, errs.CodeInvalidParameter, "state")

	s.bad("DELETE", address(4)+"/data", nil).problem(409, errs.CodeVersionPresent, "")
	erased := s.send("DELETE", address(2)+"/data", nil).want(http.StatusOK).object()
	same(t, "rule", erased.text("rule"), "erased by a sysadmin")
	same(t, "sha256 of the erased version", erased.text("sha256"), sha256Hex("two"))
	gone := s.bad("GET", address(2)+"/data", nil).problem(410, errs.CodeVersionRemoved, "")
	editor.send("PUT", address(2)+"/label", object{"label": "x"}).problem(410, errs.CodeVersionRemoved, "")
	editor.send("POST", address(2)+"/restore", nil).problem(410, errs.CodeVersionRemoved, "")
	same(t, "the detail names the rule", strings.Contains(gone.object().text("detail"), "erased by a sysadmin"), true)
	usage := s.get("/dataspaces/" + s.dataspace + "/usage").object()
	same(t, "old versions", fmt.Sprint(usage["oldVersions"], usage["oldBytes"]), "2 8")

	page := strings.TrimPrefix(s.get(versions).object().text("currentPage"), s.base)
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	for _, at := range []string{versions, page, address(1), address(1) + "/data", address(4) + "/data"} {
		s.bad("GET", at, nil).problem(410, errs.CodeResourceGone, "")
	}
	s.send("POST", path+"/restore", nil).want(http.StatusOK)
	same(t, "the file after both", string(s.get(address(3)+"/data").body), "three")
}

// TestPurgeByRetention tests that the dry run names the labeled versions of a deleted resource that
// would be removed.
func TestPurgeByRetention(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	set := s.newSet()
	kept, gone := s.upload(set, "kept", "one").text("id"), s.upload(set, "gone", "uno").text("id")
	for id, content := range map[string]string{kept: "two", gone: "due"} {
		s.send("PUT", "/resources/"+id, form(file("file", content))).want(http.StatusOK)
	}
	s.send("PUT", "/resources/"+gone+"/versions/1/label", object{"label": "as sent"}).want(http.StatusOK)
	s.send("DELETE", "/resources/"+gone, nil).want(http.StatusNoContent)
	s.bad("PUT", "/dataspaces/"+s.dataspace, object{"retention": "some"}).problem(400, errs.CodeInvalidField, "retention")
	same(t, "retention", s.send("PUT", "/dataspaces/"+s.dataspace, object{"retention": "last 1"}).want(200).object().text("retention"), "last 1")
	for _, dry := range []bool{true, false} {
		answer := s.send("POST", "/admin/purge", object{"olderThan": "0s", "dryRun": dry}).want(http.StatusOK).object()
		same(t, "purged", fmt.Sprint(answer["resources"], answer["versions"], answer["versionBytes"], answer["labelledVersions"], answer["labelled"]),
			fmt.Sprint(1, 2, 6, 1, " [map[label:as sent name:gone resourceId:", gone, " version:1]]"))
	}
	s.bad("GET", "/resources/"+kept+"/versions/1/data", nil).problem(410, errs.CodeVersionRemoved, "")
	v := s.get("/resources/" + kept + "/versions/1").want(http.StatusOK).object()
	same(t, "the remaining versions", v.text("rule")+" "+v.text("sha256"), "retention: last 1 "+sha256Hex("one"))
}
