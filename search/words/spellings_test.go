package words_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"labshelf/search/words"
)

// TestSpellings tests the other spellings of words, in any order. A dot marks spellings that match
// only as a whole word.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Müller": "mueller", "MUELLER": "muller", "mueller": "muller", "muller": "", "Köln": "koeln", "koeln": "koln",
		"Ångström": "aangstroem angstroem aangstrom", "aangstroem": "angstrom angstroem aangstrom", "angstroem": "angstrom",
		"Straße": "", "strasse": "", "Ørsted": "oersted", "oersted": "orsted", "Æther": "ather", "œuvre": "ouvre",
		"Größenüberprüfung": "groessenueberpruefung groessenuberprufung grossenueberprufung grossenuberpruefung " +
			"groessenueberprufung groessenuberpruefung grossenueberpruefung",
		"Tübingen-Süd": "tuebingen-sued tuebingen-sud tubingen-sued",
		"ＭＵＥＬＬＥＲ":      "muller",
		// Short words, and words with a shorter end.
		"oel": "ol.", "Öl": "oel", "ö": "oe", "fuel": "ful.", "malmoe": "malmo.", "Malmö": "malmoe", "clue": "clu.", "toe": "", "aa": "", "value": "valu.",
		// Pairs of letters that are not a spelling of one letter.
		"frequency": "", "Israël": "", "poëte": "", "naïve": "", "Citroën": "", "": "", "résumé": "", "データ": "", "2026": "",
	} {
		for _, form := range []norm.Form{norm.NFC, norm.NFD} {
			var got []string
			for _, s := range words.Spellings(form.String(text)) {
				if s.Whole {
					s.Text += "."
				}
				got = append(got, s.Text)
			}
			wanted := strings.Fields(want)
			slices.Sort(got)
			slices.Sort(wanted)
			if !slices.Equal(got, wanted) {
				t.Errorf("%+q: other spellings %q, want %q", form.String(text), got, wanted)
			}
		}
	}
}

// TestSpellingsAreFew tests words with many such letters, which have only the longest and the
// shortest spelling.
func TestSpellingsAreFew(t *testing.T) {
	t.Parallel()
	for word := range words.Words(strings.Repeat("äb", 20)) {
		all := word.Spellings(strings.Repeat("äb", 20))
		if len(all) != 7 || all[0].Text != strings.Repeat("aeb", 20) {
			t.Errorf("%+v", all)
		}
	}
	all := words.Spellings("oelduesenpruefgeraet")
	if len(all) != 7 || all[0].Text != "oldusenprufgerat" {
		t.Errorf("%+v", all)
	}
}

// TestWordSpellings checks that spellings are cut like words, including characters that are several
// words.
func TestWordSpellings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"½ für":                        {"fuer"},
		strings.Repeat("x", 63) + "ü":  nil,
		"Müller's Koeln_温":             {"mueller", "koln"},
		"ü" + strings.Repeat("x", 100): {"ue" + strings.Repeat("x", 62)},
	} {
		var got []string
		for word := range words.Words(text) {
			for _, s := range word.Spellings(text) {
				got = append(got, s.Text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
