package completion

import (
	"reflect"
	"strings"
	"testing"
)

func TestReadBash(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bashLine{
		"":                             {},
		"labshelf ":                    {words: []string{"labshelf"}},
		"labshelf cat a":               {words: []string{"labshelf", "cat"}, word: "a"},
		`labshelf 'a b' "c\"\d$x" \e`:  {words: []string{"labshelf", "a b", `c"\d$x`}, word: "e"},
		`labshelf a'b c`:               {words: []string{"labshelf"}, word: "ab c", quote: '\''},
		`labshelf "it's \"`:            {words: []string{"labshelf"}, word: `it's "`, quote: '"'},
		`labshelf a\`:                  {words: []string{"labshelf"}, word: "a", cut: true},
		"A=1 B='x y' labshelf C=2 ":    {words: []string{"labshelf", "C=2"}},
		"labshelf <in ls 2>/dev/null ": {words: []string{"labshelf", "ls"}},
		"labshelf ls > f":              {words: []string{"labshelf", "ls"}, word: "f", redirected: true},
		"labshelf ls '' Grüße\u3000x":  {words: []string{"labshelf", "ls", ""}, word: "Grüße\u3000x"},
	} {
		if got := readBash(line); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", line, got, want)
		}
	}
}

// TestBashQuoted: bash reads quoted text as the original text, and interprets nothing in it.
func TestBashQuoted(t *testing.T) {
	t.Parallel()
	for _, quote := range []byte{0, '\'', '"'} {
		all := "Grüße"
		for c := rune(' '); c < 0x7f; c++ {
			all += string(c)
		}
		begin := strings.Trim(string(rune(quote)), "\x00")
		got := bashQuoted(all, quote)
		if read := readBash("x " + begin + got); read.word != all || read.redirected || len(read.words) != 1 {
			t.Errorf("%q: %q is read as %+v", quote, got, read)
		}
		for _, bad := range []string{"$", "`"} {
			if at := strings.Index(got, bad); quote != '\'' && got[at-1] != '\\' {
				t.Errorf("%q: %s is bare in %q", quote, bad, got)
			}
		}
	}
}

// TestBashReplies: text that is inserted into the line is quoted, and text that is only shown never
// replaces typed text.
func TestBashReplies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers   bashAnswers
		inserting bool
		want      []string
		partial   bool
	}{
		"one":          {bashAnswers{list: []candidate{{"s:a b", "about"}}, typed: "s:a", kept: "s:", word: "a"}, false, []string{`a\ b`}, false},
		"more to come": {bashAnswers{list: []candidate{{"a b1", ""}, {"a b2", ""}}, typed: "a", word: "a"}, false, []string{`a\ b1`, `a\ b2`}, false},
		"half escaped": {bashAnswers{list: []candidate{{"a b", ""}, {"a$b", ""}}, typed: "", word: ""}, false, []string{"a"}, true},
		"shown":        {bashAnswers{list: []candidate{{"ab", "x"}, {"ac", ""}}, typed: "a", word: "a"}, false, []string{"ab  (x)", "ac"}, false},
		"shown quoted": {bashAnswers{list: []candidate{{"$1", ""}, {"$2", ""}}, typed: "$", word: `\$`}, false, []string{`\$1`, `\$2`}, false},
		"shown aside":  {bashAnswers{list: []candidate{{"$1", ""}, {"$2", ""}}, typed: "$", word: `'$'`}, false, []string{`\$1`, `\$2`, " "}, false},
		"put in":       {bashAnswers{list: []candidate{{"$1", "x"}, {"$2", ""}}, typed: "$", word: `\$`}, true, []string{`\$1`, `\$2`}, false},
	} {
		got, partial := test.answers.replies(test.inserting, 80)
		if !reflect.DeepEqual(got, test.want) || partial != test.partial {
			t.Errorf("%s: got %q, %v; want %q, %v", name, got, partial, test.want, test.partial)
		}
	}
	if got := commonPrefix([]string{"日本", "日月", "日曜"}); got != "日" {
		t.Errorf("got %q: half a character", got)
	}
}
