package words_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"labshelf/search/words"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "",
		"Run17_Sample-A.CSV":     "run17_sample-a.csv",
		"Ångström, Łódź, Ørsted": "angstrom, lodz, orsted",
		"STRASSE straße STRAẞE":  "strasse strasse strasse",
		"Æther œuvre Þór đ İI ı": "aether oeuvre thor d ii i",
		"ΣΊΣΥΦΟΣ Σίσυφος":        "σισυφοσ σισυφοσ",
		"Ёлка й":                 "елка и",
		"ﬁle ½ m² ℃ ㎏":           "file 1/2 m2 °c kg",
		"ＡＢＣ１２３　ｶﾞ":              "abc123 ガ",
		"が か ハ パ":                "が か ハ パ",
		"한글 한":                   "한글 한",
		"กำ กํา ป้า":             "กํา กํา ป้า",
		"क़ की":                  "क़ की",
		"مُحَمَّد أحمد ـ":        "محمد احمد ",
		"שָׁלוֹם":                "שלום",
		"don’t – “a”… soft\u00adhyphen\ufeff": `don't - "a"... softhyphen`,
		"µm μm": "μm μm",
		"\xff":  "\ufffd",
	} {
		if got := words.Fold(text); got != want {
			t.Errorf("Fold(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestFoldEveryCharacter checks the promises of the package for every character, alone and within
// words, and its case against the tables of Unicode.
func TestFoldEveryCharacter(t *testing.T) {
	t.Parallel()
	step := rune(1)
	if testing.Short() {
		step = 11
	}
	for r := rune(0); r <= unicode.MaxRune; r += step {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf) {
			continue
		}
		promises(t, string(r)+" a"+string(r)+"\u0301b 가"+string(r)+"か\u3099")
		if other := unicode.SimpleFold(r); words.Fold(string(other)) != words.Fold(string(r)) {
			t.Errorf("%q and %q differ only in case, but differ after folding", r, other)
		}
	}
}

// promises fails the test if Fold is not idempotent, if case matters, or if Words disagrees with
// Fold.
func promises(t *testing.T, text string) {
	t.Helper()
	folded := words.Fold(text)
	if again := words.Fold(folded); again != folded {
		t.Errorf("%+q: folded to %+q, and that to %+q", text, folded, again)
	}
	got, want := texts(text), texts(folded)
	if !slices.Equal(got, want) {
		t.Errorf("%+q: words %+q, of the folded text %+q", text, got, want)
	}
	end := 0
	for w := range words.Words(text) {
		if w.Text == "" || len(w.Text) > words.MaxBytes || !utf8.ValidString(w.Text) {
			t.Errorf("%+q: word %+q", text, w.Text)
		}
		if w.Start < 0 || w.Start >= w.End || w.End > len(text) || w.End < end {
			t.Errorf("%+q: word %+q at %d to %d", text, w.Text, w.Start, w.End)
		}
		end = w.End
	}
}

func texts(s string) []string {
	var all []string
	for w := range words.Words(s) {
		all = append(all, w.Text)
	}
	return all
}

func TestWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 70)
	for text, want := range map[string]string{
		"":       "",
		" -_./ ": "",
		"2026-03-14_run17_sample-A042_temperature.csv": "2026|03|14|run17|sample|a042|temperature|csv",
		"camelCase HTTPServer":                         "camelcase|httpserver",
		"温度計2 データ":                                     "温|度|計|2|デ|ー|タ",
		"ป้าa":                                         "ป้|า|a",
		"日本語abc":                                       "日|本|語|abc",
		"e\u0301te\u0301 NAÏVE":                        "ete|naive",
		"½ m² ㎏/㍿":                                     "1|2|m2|kg|株|式|会|社",
		"don't C++ 3.5°C":                              "don|t|c|3|5|c",
		long:                                           strings.Repeat("e", 64),
		"ภ" + strings.Repeat("\u0e49", 40):             "ภ" + strings.Repeat("\u0e49", 20),
		"한국어 데이터":                                      "한국어|데이터",
		"की कि":                                        "की|कि",
	} {
		if got := strings.Join(texts(text), "|"); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWordOffsets(t *testing.T) {
	t.Parallel()
	const text = "Café-Ölstand ½ 温度"
	var stand []string
	for w := range words.Words(text) {
		stand = append(stand, text[w.Start:w.End])
	}
	if want := []string{"Café", "Ölstand", "½", "½", "温", "度"}; !slices.Equal(stand, want) {
		t.Errorf("the words are at %q, want %q", stand, want)
	}
}

// TestWordsStop ends a sequence early, like a caller that needs only the first words.
func TestWordsStop(t *testing.T) {
	t.Parallel()
	var first []string
	for w := range words.Words("one two three") {
		if first = append(first, w.Text); len(first) == 2 {
			break
		}
	}
	if !slices.Equal(first, []string{"one", "two"}) {
		t.Errorf("got %q", first)
	}
}

func FuzzFold(f *testing.F) {
	f.Add("ᄒ\u0301ᅡᆫ ß İ")
	f.Add("ｶﾞ\u3099 \u0f71\u0f72")
	f.Fuzz(func(t *testing.T, text string) { promises(t, text) })
}

func BenchmarkWords(b *testing.B) {
	for name, text := range map[string]string{
		"ascii": strings.Repeat("2026-03-14_run17_sample-A042_temperature.csv ", 100),
		"latin": strings.Repeat("Größenmessung der Ölstände für Café-Räume ", 100),
		"han":   strings.Repeat("温度測定データの記録 ", 100),
		"greek": strings.Repeat("Μέτρηση της θερμοκρασίας ", 100),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for range words.Words(text) {
				}
			}
		})
	}
}
