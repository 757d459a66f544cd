package blobs_test

import (
	"strings"
	"testing"

	"labshelf/blobs"
)

func TestParseDigest(t *testing.T) {
	t.Parallel()
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	tests := []struct {
		name, text string
		valid      bool
	}{
		{"lower case", abc, true},
		{"upper case", strings.ToUpper(abc), true},
		{"mixed case", "BA7816bf" + abc[8:], true},
		{"empty", "", false},
		{"63 digits", abc[1:], false},
		{"65 digits", abc + "0", false},
		{"no digit", "g" + abc[1:], false},
		{"prefix 0x", "0x" + abc[2:], false},
		{"space", " " + abc[1:], false},
		{"64 bytes, 32 characters", strings.Repeat("é", 32), false},
	}
	for _, test := range tests {
		got, err := blobs.ParseDigest(test.text)
		if (err == nil) != test.valid {
			t.Errorf("%s: got error %v", test.name, err)
		}
		if test.valid && got.String() != abc {
			t.Errorf("%s: got %s, want %s", test.name, got, abc)
		}
		if !test.valid && got != (blobs.Digest{}) {
			t.Errorf("%s: got %s together with the error", test.name, got)
		}
	}
}
