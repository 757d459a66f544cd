package commands

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
)

// The kinds of completion that bash asks for, in COMP_TYPE, where each answer goes into the line as it is.
const (
	bashMenu      = "37"
	bashInsertAll = "42"
)

// bashCommand answers the script that completion writes for bash. Readline puts what several answers have in common into the line as
// it stands, so that names which others chose would be commands there: what goes into the line is quoted here.
func bashCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:    "__bash LINE WORD TYPE COLUMNS",
		Hidden: true,
		Args:   exactly(4, "the line up to the cursor, what of it is replaced, COMP_TYPE and COLUMNS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			columns, err := strconv.Atoi(args[3])
			if err != nil {
				return usagef("COLUMNS: %w", err)
			}
			how, replies := bashAnswer(cmd.Root(), args[0], args[1], args[2], columns)
			_, err = fmt.Fprintln(p.Out, strings.Join(append([]string{how}, replies...), "\n"))
			return err
		},
	}
}

// bashAnswer is what the script is to do beside, and what may stand in place of word at the end of line.
func bashAnswer(root *cobra.Command, line, word, kind string, columns int) (how string, replies []string) {
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
			if len(replies) == 1 && keep.quote != 0 { // readline closes the quote behind a single one
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

// candidate is what a word may become, and a word on it for people.
type candidate struct{ name, about string }

// candidates asks the commands below root what may stand in place of typed behind args.
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

// bashLine is a command line as far as it is typed, without its quotes.
type bashLine struct {
	words      []string // before the one under way
	word       string   // under way
	quote      byte     // that is open: ', " or 0
	cut        bool     // it ends behind a backslash
	redirected bool     // word is the file of a redirection
}

// readBash reads a line as bash does, but expands nothing.
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

// isAssignment says whether a word in front of a command sets a variable.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && !strings.ContainsAny(name, "-/. ")
}

// bashAnswers are the candidates for a word, and how readline is to take them.
type bashAnswers struct {
	list        []candidate
	typed, kept string // the word under way, and of it what stays, without quotes
	quote       byte   // that is open behind what stays
	word        string // the rest of the word as it stands in the line
}

// replies are the answers. Readline puts what all of them begin with in place of the word, and shows them where that is no more than
// stands there; partial says that a single one is not the end of the word.
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
	return append(lines, " "), false // which begins like none of them
}

// described are the texts with what the candidates are about, in columns.
func (a bashAnswers) described(texts []string, columns int) (lines []string) {
	widest := 0
	for _, text := range texts {
		widest = max(widest, uniseg.StringWidth(text))
	}
	for i, text := range texts {
		room := columns - widest - len("  ()") - 1
		if about := a.list[i].about; about != "" && room > leastWidth {
			text += strings.Repeat(" ", widest-uniseg.StringWidth(text)) + "  (" + cut(about, room) + ")"
		}
		lines = append(lines, text)
	}
	return lines
}

// commonPrefix is what all of texts begin with, in whole characters.
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

// bashQuoted is text as it has to stand in a line of bash where that quote is open, or none.
func bashQuoted(text string, quote byte) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case quote == '\'' && r == '\'':
			out.WriteString(`'\''`)
		case quote == '"' && r == '!': // which recalls commands between these quotes, backslash or not
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

// plainForBash says whether an ASCII character means itself wherever it stands in a word.
func plainForBash(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:=@%+,-", r)
}
