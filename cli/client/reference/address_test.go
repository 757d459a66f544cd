package reference

import (
	"testing"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want address
		ok   bool
	}{
		{"https://h/v1/sets/A", address{"https://h", "sets", "A", ""}, true},
		{"https://h/v1/sets/A/resources?limit=2", address{"https://h", "sets", "A", "/resources?limit=2"}, true},
		{"https://h:8443/lab/v1/resources/A/data", address{"https://h:8443/lab", "resources", "A", "/data"}, true},
		{"HTTP://h/lab/resources/A#rows", address{"HTTP://h/lab", "resources", "A", "#rows"}, true},
		{"http://h/dataspaces/A?view=files", address{"http://h", "dataspaces", "A", "?view=files"}, true},
		{"http://h/sets/A:a/b:c?d", address{"http://h", "sets", "A", ":a/b:c?d"}, true},
		{"https://h/v1", address{}, true},
		{"https://h/sets/", address{}, true},
		{"sets/A", address{}, false},
		{"https:A", address{}, false},
	} {
		if got, ok := ParseAddress(test.text); got != test.want || ok != test.ok {
			t.Errorf("%s: %+v, %v; want %+v, %v", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestSetAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"http://h/sets/A:a/b:c?d": {"http://h/sets/A", "a/b:c?d"},
		"http://h:1/v1/sets/A:x":  {"http://h:1/v1/sets/A", "x"},
		"http://h/sets/A":         {},
		"http://h/sets/A:":        {},
		"http://h/resources/A:x":  {},
		"sets:x":                  {},
	} {
		set, name, ok := SetAddress(text)
		if ok != (want[0] != "") || ok && [2]string{set, name} != want {
			t.Errorf("%s: %q, %q, %v", text, set, name, ok)
		}
	}
}

func TestFolderAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"http://h/sets/A":                             {"http://h/sets/A", ""},
		"http://h:1/shelf/v1/sets/A/":                 {"http://h:1/shelf/v1/sets/A", ""},
		"http://h/sets/A?order=newest#x":              {"http://h/sets/A", ""},
		"http://h/sets/A?folder=raw%2F2026%20%C3%A4/": {"http://h/sets/A", "raw/2026 ä/"},
		"http://h/sets/A/raw/2026%20a/":               {"http://h/sets/A", "raw/2026 a/"},
		"http://h/sets/A/raw":                         {},
		"http://h/sets/A:x/":                          {},
		"http://h/resources/A":                        {},
		"lab/raw/":                                    {},
	} {
		set, folder, ok := FolderAddress(text)
		if ok != (want[0] != "") || ok && [2]string{set, folder} != want {
			t.Errorf("%s: %q, %q, %v", text, set, folder, ok)
		}
	}
}
