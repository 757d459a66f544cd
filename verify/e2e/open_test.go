package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// outsider runs programs by other authors, as a user without a key.
type outsider struct {
	t      *testing.T
	python string
}

// newOutsider looks for curl and the text browser w3m, and installs extruct, which extracts
// structured data from pages. Without them the test is skipped; in CI it fails.
func newOutsider(t *testing.T) outsider {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "venv")
	r := outsider{t, filepath.Join(folder, "bin", "python")}
	for _, command := range [][]string{
		{"curl", "--version"}, {"w3m", "-version"},
		{"python3", "-m", "venv", folder},
		{r.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "extruct==0.18.0"},
	} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%v: %v\n%s", command, err, out)
			}
			t.Skipf("open data not tested with other programs: %v: %v\n%s", command, err, out)
		}
	}
	return r
}

// run returns the standard output of a program.
func (r outsider) run(input, name string, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// has reports an error for each wanted string that text does not contain.
func (r outsider) has(what, text string, wanted ...string) {
	r.t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			r.t.Errorf("%s lacks %q:\n%s", what, w, text)
		}
	}
}

// TestOpenByOtherPrograms tests that curl and a text browser can read an open set, and that extruct
// finds a Dataset in it with the fields that Google requires. They must not see another dataspace.
func TestOpenByOtherPrograms(t *testing.T) {
	t.Parallel()
	r := newOutsider(t)
	s := serve(t, filepath.Join(t.TempDir(), "data"), "--anonymous", "on")
	ctx := t.Context()
	newSet := func(visibility, title string) (dataspace, set, file string) {
		d, err := s.Make(ctx, "/dataspaces", map[string]string{"name": visibility, "title": title, "visibility": visibility})
		check(t, err)
		set, err = s.Make(ctx, "/sets", map[string]string{"name": visibility + "-runs", "title": title + " runs", "dataspaceId": d})
		check(t, err)
		f, err := s.Upload(ctx, "POST", "/resources", File{SetID: set, Name: title + " <1>.txt", Filename: "1.txt", Body: strings.NewReader(title), Size: int64(len(title))})
		check(t, err)
		return d, set, f.ID
	}
	dataspace, set, file := newSet("open", "Glacier")
	_, closed, _ := newSet("private", "Hidden")
	check(t, s.Call(ctx, "PUT", "/sets/"+set, map[string]any{"description": "Ice.", "metadata": map[string]any{
		"creators": []any{map[string]string{"name": "Lovelace, Ada", "orcid": "0000-0002-1825-0097", "type": "person"}}, "publisher": "Ice lab",
		"publicationYear": 2025, "licence": "CC-BY-4.0", "keywords": []string{"ice"}}}, nil))

	base, site := s.Base(), strings.TrimSuffix(s.Base(), "/v1")
	curl := func(args ...string) string {
		return r.run("", "curl", append([]string{"--silent", "--show-error"}, args...)...)
	}
	r.has("the record", curl("--fail", base+"/sets/"+set), `"title": "Glacier runs"`)
	r.has("the listing", curl("--fail", base+"/sets/"+set+"/resources"), `"Glacier <1>.txt"`, `"bytes": 7`)
	r.has("a part of the file", curl("--fail", "--range", "1-3", base+"/resources/"+file+"/data"), "lac")
	if zip := curl("--fail", base+"/sets/"+set+"/archive"); !strings.HasPrefix(zip, "PK") {
		t.Errorf("the archive begins with %.20q", zip)
	}
	r.has("a private set", curl("--write-out", "%{http_code}", base+"/sets/"+closed), `"unauthenticated"`, "401")
	r.has("the listing of all resources", curl("--write-out", "%{http_code}", base+"/resources"), "401")

	browse := func(path string) string {
		return r.run("", "w3m", "-dump", "-cols", "120", "-o", "accept_encoding=identity", site+path)
	}
	r.has("the dataspace in w3m", browse("/dataspaces/"+dataspace), "Glacier", "Glacier runs")
	r.has("the set in w3m", browse("/sets/"+set), "Glacier runs", "Ice.", "Lovelace, Ada", "CC-BY-4.0", "Glacier <1>.txt", "7 B", "Download")
	r.has("the file in w3m", browse("/resources/"+file), "Glacier <1>.txt", "Download 7 B")
	if text := browse("/sets/" + closed); strings.Contains(text, "Hidden") {
		t.Errorf("w3m shows a private set:\n%s", text)
	}

	page := curl("--fail", site+"/sets/"+set)
	found := r.run(page, r.python, "-c", "import sys,json,extruct; print(json.dumps(extruct.extract(sys.stdin.read(), syntaxes=['json-ld'], errors='strict')['json-ld']))")
	var sets []map[string]any
	if err := json.Unmarshal([]byte(found), &sets); err != nil || len(sets) != 1 {
		t.Fatalf("extruct finds %s: %v", found, err)
	}
	// Google's structured data for data sets requires name and description, and recommends the
	// other fields.
	for _, field := range []string{"name", "description", "creator", "license", "identifier", "keywords", "isAccessibleForFree", "distribution", "includedInDataCatalog", "url", "datePublished", "dateModified"} {
		if sets[0][field] == nil {
			t.Errorf("the Dataset has no %s: %s", field, found)
		}
	}
	if n := len(sets[0]["description"].(string)); sets[0]["@type"] != "Dataset" || n < 50 || n > 5000 {
		t.Errorf("got a %v with a description of %d characters", sets[0]["@type"], n)
	}
	downloads := sets[0]["distribution"].([]any)
	last := downloads[len(downloads)-1].(map[string]any)
	r.has("the file that the Dataset names", curl("--fail", last["contentUrl"].(string)), "Glacier")
	for _, field := range []string{"contentUrl", "encodingFormat", "contentSize"} {
		if last[field] == nil {
			t.Errorf("the file has no %s: %v", field, last)
		}
	}
}
