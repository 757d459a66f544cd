package completion

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"labshelf/cli/display"
)

// The values of COMP_TYPE with which readline inserts each reply unchanged.
const (
	bashMenu      = "37"
	bashInsertAll = "42"
)

// Bash returns the option for the script, and the replacements for word at the end of line.
func Bash(root *cobra.Command, line, word, kind string, columns int) (how string, replies []string) {
	now, keep := readBash(line), readBash(strings.TrimSuffix(line, word))
	if now.redirected || now.cut || keep.cut || len(now.words) == 0 || !strings.HasSuffix(line, word) {
		return "", nil
	}
	list, directive := candidates(root, now.words[1:], now.word)
	switch {
	case len(list) > 0:
		a := bashAnswers{list: list, typed: now.word, kept: keep.word, quote: keep.quote, word: word}
		replies, partial := a.replies(kind == bashMenu || kind == bashInsertAll, columns)
		if partial || directive&cobra.ShellCompDirectiveNoSpace != 0 {
			if len(replies) == 1 && keep.quote != 0 { // readline closes the quote after a single reply
				replies = append(replies, replies[0]+" ")
			}
			return "nospace", replies
		}
		return "", replies
	case directive&cobra.ShellCompDirectiveFilterDirs != 0:
		return "folders", nil
	case directive&cobra.ShellCompDirectiveNoFileComp != 0:
		return "nofiles", nil
	}
	return "", nil
}

// candidate is a completion of a word, and its description.
type candidate struct{ name, about string }

// candidates asks the commands below root for the completions of typed after args.
func candidates(root *cobra.Command, args []string, typed string) (list []candidate, directive cobra.ShellCompDirective) {
	var out bytes.Buffer
	root.SetArgs(append(append([]string{cobra.ShellCompRequestCmd}, args...), typed))
	root.SetOut(&out)
	root.SetErr(io.Discard)
	if root.Execute() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	last := len(lines) - 1
	number, err := strconv.Atoi(strings.TrimPrefix(lines[last], ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	flag := ""
	if i := strings.IndexByte(typed, '='); i > 0 && typed[0] == '-' {
		flag = typed[:i+1]
	}
	seen := map[string]bool{} // a dataspace and a set can have the same name
	for _, line := range lines[:last] {
		name, about, _ := strings.Cut(line, "\t")
		if name = flag + name; strings.HasPrefix(name, typed) && !seen[name] {
			seen[name] = true
			list = append(list, candidate{name, about})
		}
	}
	return list, cobra.ShellCompDirective(number)
}

// bashLine is a parsed command line up to the cursor.
type bashLine struct {
	words      []string // complete words
	word       string   // at the cursor
	quote      byte     // open quote at the cursor: ', " or 0
	cut        bool     // the line ends with a backslash
	redirected bool     // word is the file of a redirection
}

// readBash parses a line as bash does, without expansions.
func readBash(line string) (l bashLine) {
	under, skip := false, false // within a word, or in the file of a redirection
	end := func() {
		if under && !skip && (len(l.words) > 0 || !isAssignment(l.word)) {
			l.words = append(l.words, l.word)
		}
		skip, under, l.word = skip && !under, false, ""
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && l.quote != '\'':
			i++
			if i == len(line) {
				l.cut = true
				break
			}
			if l.quote == '"' && strings.IndexByte("\\\"$`", line[i]) < 0 {
				l.word += "\\"
			}
			under, l.word = true, l.word+line[i:i+1]
		case c == l.quote:
			l.quote = 0
		case l.quote == 0 && (c == '\'' || c == '"'):
			under, l.quote = true, c
		case l.quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			end()
		case l.quote == 0 && (c == '<' || c == '>'):
			if under && strings.Trim(l.word, "0123456789") == "" { // the number of a file descriptor
				under, l.word = false, ""
			}
			end()
			skip = true
		default:
			under, l.word = true, l.word+line[i:i+1]
		}
	}
	l.redirected = skip
	return l
}

// isAssignment reports whether a word before a command sets a variable.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && !strings.ContainsAny(name, "-/. ")
}

// bashAnswers are the candidates for a word.
type bashAnswers struct {
	list        []candidate
	typed, kept string // the word at the cursor, and the part of it that is kept, both without quotes
	quote       byte   // quote that is open after the kept part
	word        string // the rest of the word as it is in the line
}

// replies returns the replies for readline. readline inserts their common prefix, or lists them if
// the word already is that prefix. partial: a single reply is not the end of the word.
func (a bashAnswers) replies(inserting bool, columns int) (lines []string, partial bool) {
	quoted := make([]string, len(a.list))
	names := make([]string, len(a.list))
	for i, c := range a.list {
		names[i] = c.name
		quoted[i] = bashQuoted(c.name[len(a.kept):], a.quote)
	}
	common := commonPrefix(names)
	switch {
	case len(names) == 1 || inserting:
		return quoted, false
	case len(common) > len(a.typed):
		if want := bashQuoted(common[len(a.kept):], a.quote); commonPrefix(quoted) != want {
			return []string{want}, true
		}
		return quoted, false
	}
	for i := range names {
		names[i] = names[i][len(a.kept):]
	}
	for _, texts := range [][]string{names, quoted} {
		if lines = a.described(texts, columns); commonPrefix(lines) == a.word {
			return lines, false
		}
	}
	return append(lines, " "), false // a space has no prefix in common with them
}

// described adds the descriptions to the replies, in columns.
func (a bashAnswers) described(texts []string, columns int) (lines []string) {
	widest := 0
	for _, text := range texts {
		widest = max(widest, uniseg.StringWidth(text))
	}
	for i, text := range texts {
		room := columns - widest - len("  ()") - 1
		if about := a.list[i].about; about != "" && room > display.LeastWidth {
			text += strings.Repeat(" ", widest-uniseg.StringWidth(text)) + "  (" + display.Cut(about, room) + ")"
		}
		lines = append(lines, text)
	}
	return lines
}

// commonPrefix returns the common prefix of the texts, in complete characters.
func commonPrefix(texts []string) string {
	common := texts[0]
	for _, text := range texts[1:] {
		n := 0
		for n < len(common) && n < len(text) && common[n] == text[n] {
			n++
		}
		common = common[:n]
	}
	for common != "" && !utf8.ValidString(common) {
		common = common[:len(common)-1]
	}
	return common
}

// bashQuoted quotes text for a line of bash in which the given quote is open, or no quote if it is
// 0.
func bashQuoted(text string, quote byte) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case quote == '\'' && r == '\'':
			out.WriteString(`'\''`)
		case quote == '"' && r == '!': // a history expansion, which a backslash does not prevent within these quotes
			out.WriteString(`"\!"`)
		case quote == '"' && strings.ContainsRune("\\\"$`", r), quote == 0 && r < utf8.RuneSelf && !plainForBash(r):
			out.WriteByte('\\')
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// plainForBash reports whether an ASCII character needs no quoting anywhere in a word.
func plainForBash(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:=@%+,-", r)
}
