package words_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode"

	_ "labshelf/internal/testhome"
	"labshelf/search/words"
)

// fts5 prints, as JSON, the words that SQLite's tokenizer unicode61 finds in each line of its
// input, in order.
const fts5 = `
import json, sqlite3, sys
db = sqlite3.connect(":memory:")
db.execute("create virtual table texts using fts5(text, tokenize = 'unicode61 remove_diacritics 2')")
db.execute("create virtual table terms using fts5vocab(texts, 'instance')")
lines = json.load(sys.stdin)
for i, line in enumerate(lines):
    db.execute("insert into texts(rowid, text) values (?, ?)", (i + 1, line))
found = [[] for line in lines]
for doc, term in db.execute("select doc, term from terms order by doc, offset"):
    found[doc - 1].append(term)
json.dump(found, sys.stdout)
`

// TestLikeSQLite compares the words with SQLite's tokenizer. They are the same in scripts with
// spaces, except for the listed differences.
func TestLikeSQLite(t *testing.T) {
	t.Parallel()
	same := []string{
		"2026-03-14_run17_sample-A042_temperature.csv", "camelCase HTTPServer don't C++ 3.5 °C a/b\\c",
		"Messung, Überprüfung: Ångström café RÉSUMÉ naïve El Niño São Paulo Dvořák",
		"Μετρηση της θερμοκρασιας", "Измерение температуры воды", "e\u0301te\u0301 de\u0301ja\u0300",
		"Nguyễn Thị Ánh", "ציפור שלום", "תגובה", "تجربة", "한국어 데이터", "Ķekava Žilina Čapek Ğ Ş", "1234567890 ٣٤",
	}
	// Words that SQLite finds differently, with the reason.
	different := map[string][2]string{
		// people often type these letters without the stroke
		"Łódź Ørsted Æther":     {"lodz|orsted|aether", "łodz|ørsted|æther"},
		"straße STRASSE":        {"strasse|strasse", "straße|strasse"},              // both spellings are one word
		"Σίσυφος":               {"σισυφοσ", "σίσυφοσ"},                             // accents of all scripts
		"Ёлка й":                {"елка|и", "ёлка|й"},                               // likewise
		"温度計 データ":               {"温|度|計|デ|ー|タ", "温度計|データ"},                         // scripts without spaces
		"ｶﾞ ＡＢＣ１ ﬁt ½ m² ㎏ µm":  {"ガ|abc1|fit|1|2|m2|kg|μm", ""},                    // compatibility forms
		"مُحَمَّد":              {"محمد", ""},                                       // vowel points
		"soft\u00adhyphen":      {"softhyphen", ""},                                 // invisible characters
		strings.Repeat("x", 70): {strings.Repeat("x", 64), strings.Repeat("x", 70)}, // long words are cut
	}
	lines := slices.Clone(same)
	for line := range different {
		lines = append(lines, line)
	}
	for i, theirs := range sqliteWords(t, lines) {
		ours := texts(lines[i])
		want, isDifferent := different[lines[i]]
		switch {
		case !isDifferent && !slices.Equal(ours, theirs):
			t.Errorf("%s: words %q, SQLite finds %q", lines[i], ours, theirs)
		case isDifferent && strings.Join(ours, "|") != want[0]:
			t.Errorf("%s: words %q, want %s", lines[i], ours, want[0])
		case isDifferent && want[1] != "" && strings.Join(theirs, "|") != want[1]:
			t.Errorf("%s: SQLite finds %q, not %s: the difference no longer exists", lines[i], theirs, want[1])
		case isDifferent && slices.Equal(ours, theirs):
			t.Errorf("%s: SQLite finds the same: the difference no longer exists", lines[i])
		}
	}
}

// sqliteWords returns the words that SQLite finds in each line.
func sqliteWords(t *testing.T, lines []string) [][]string {
	t.Helper()
	input, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-c", fts5)
	cmd.Stdin = strings.NewReader(string(input))
	out, err := cmd.Output()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("python3 with SQLite's FTS5: %v", err)
		}
		t.Skipf("no python3 with SQLite's FTS5: %v", err)
	}
	var found [][]string
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestLikeSQLiteEveryLetter compares the letters and digits that are their own folded form, in all
// scripts below U+1900. Beyond that, SQLite's tables are from an older Unicode version. Each letter
// is a word in both.
func TestLikeSQLiteEveryLetter(t *testing.T) {
	t.Parallel()
	var lines []string
	for r := '0'; r < 0x1900; r++ {
		isPlain := (unicode.IsLetter(r) || unicode.IsDigit(r)) && words.Fold(string(r)) == string(r)
		if isPlain {
			lines = append(lines, string(r))
		}
	}
	for i, theirs := range sqliteWords(t, lines) {
		if ours := texts(lines[i]); !slices.Equal(ours, theirs) {
			t.Errorf("%s %+q: words %q, SQLite finds %q", lines[i], lines[i], ours, theirs)
		}
	}
}
