package content

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestText distinguishes text in any encoding from other files, whatever their names.
func TestText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ about, raw, want string }{
		{"ASCII", "a,b\r\n1,2\r\n", "a,b\r\n1,2\r\n"},
		{"UTF-8", "Grüße", "Grüße"},
		{"UTF-8 with a mark", "\ufeffGrüße", "Grüße"},
		{"UTF-8 cut off", "Gr\xc3", "Gr"},
		{"UTF-8 with a damaged byte", "äöü \xff ß", "äöü   ß"},
		{"UTF-16 LE with a mark", "\xff\xfea\x00\xe4\x00", "aä"},
		{"UTF-16 BE with a mark", "\xfe\xff\x00a\x00\xe4", "aä"},
		{"UTF-16 LE", "w\x00o\x00r\x00d\x00\xac\x20", "word€"},
		{"UTF-16 BE", "\x00w\x00o\x00r\x00d\x20\xac", "word€"},
		{"UTF-16 cut off", "\xff\xfea\x00b", "a"},
		{"Japanese UTF-16 with a mark", "\xff\xfe\xe5\x65\x2c\x67", "日本"},
		{"Latin-1", "gr\xfcn und wei\xdf", "grün und weiß"},
		{"Windows-1252", "20 \x80 \x96 teuer", "20 € – teuer"},
		{"degrees", "T / \xb0C\n1\n", "T / °C\n1\n"},
		{"a terminal", "\x1b[31mred\x1b[0m\a", "\x1b[31mred\x1b[0m\a"},
		{"like a bitmap", "BMI;weight\n20;80\n", "BMI;weight\n20;80\n"},
		{"like a program", "MZ and PZ\n", "MZ and PZ\n"},
		{"Shift-JIS", strings.Repeat("\x93\xfa\x96\x7b", 100) + " data", strings.Repeat("  {", 0) + "data"},
		{"nothing", "", ""},
		{"only a byte order mark", "\ufeff", ""},
		{"PDF", "%PDF-1.4\n1 0 obj\n", ""},
		{"FITS", "SIMPLE  =                    T", ""},
		{"a header, then bytes", "P6\n640 480\n255\n\x00\x01\x02\xff\xfe", ""},
		{"a JPEG", "\xff\xd8\xff\xe0\x00\x10JFIF", ""},
		{"a PNG", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", ""},
		{"a ZIP", "PK\x03\x04\x14\x00\x08", ""},
		{"numbers of 16 bits", "\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00", ""},
		{"numbers of 32 bits", "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00", ""},
		{"half of a character in UTF-16", "\xff\xfe0\xdc", ""},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", ""},
		{"bytes above ASCII", "\xe4\xf6\xfc\xdf", ""},
	} {
		got, ok := Text([]byte(test.raw))
		if test.about == "Shift-JIS" {
			got = strings.TrimSpace(got[strings.LastIndex(got, " ")+1:])
		}
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q, %t, want %q", test.about, got, ok, test.want)
		}
	}
}

// TestTextOfNoise: random bytes are not text, even if they are few.
func TestTextOfNoise(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	texts := 0
	for range 2000 {
		raw := make([]byte, 64+random.IntN(4096))
		for i := range raw {
			raw[i] = byte(random.Uint32())
		}
		if _, ok := Text(raw); ok {
			texts++
		}
	}
	if texts > 0 {
		t.Errorf("%d of 2000 are detected as text", texts)
	}
}

// FuzzText verifies that the returned text is valid, and contains no NUL.
func FuzzText(f *testing.F) {
	for _, raw := range []string{"a", "\xff\xfea\x00", "w\x00o\x00r\x00d\x00", "gr\xfcn"} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if text, ok := Text(raw); strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text || ok && text == "" {
			t.Fatalf("%q is %q, %t", raw, text, ok)
		}
	})
}
