package commands

import (
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// unlimited is the width of an output that is no terminal: nothing is cut off for programs and files.
const unlimited = 0

// widthOf is the number of columns of a terminal, or unlimited.
func widthOf(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok {
		return unlimited
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return unlimited
	}
	return width
}

// table is text in columns, for people. Columns are as wide as what is in them; where that is too much for the terminal, the
// widest give way and end with an ellipsis.
type table struct {
	head   []string
	rows   [][]string
	widths []int // of what was written
}

func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = printable(cell)
	}
	t.rows = append(t.rows, cells)
}

// gap is between two columns.
const gap = "  "

// write writes the table to out, at most width columns wide unless that is unlimited. A table without rows is nothing. It leaves the
// table without head and rows, so that a long one can be written piece by piece.
func (t *table) write(out io.Writer, width int) error {
	if len(t.rows) == 0 {
		return nil
	}
	lines := t.rows
	if len(t.head) > 0 {
		lines = append([][]string{t.head}, lines...)
	}
	if t.widths == nil {
		t.widths = make([]int, len(lines[0]))
	}
	for _, line := range lines {
		for i, cell := range line {
			t.widths[i] = max(t.widths[i], uniseg.StringWidth(cell))
		}
	}
	t.head, t.rows = nil, nil
	widths := slices.Clone(t.widths)
	if width != unlimited {
		narrow(widths, width-len(gap)*(len(widths)-1))
	}
	var text strings.Builder
	for _, line := range lines {
		for i, cell := range line {
			cell = cut(cell, widths[i])
			text.WriteString(cell)
			if i < len(line)-1 {
				text.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell)) + gap)
			}
		}
		text.WriteByte('\n')
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// leastWidth is how narrow a column may become.
const leastWidth = 8

// narrow takes from the widest of widths until they are room together, or none can give more.
func narrow(widths []int, room int) {
	for {
		sum, widest := 0, 0
		for i, w := range widths {
			sum += w
			if w > widths[widest] {
				widest = i
			}
		}
		if sum <= room || widths[widest] <= leastWidth {
			return
		}
		widths[widest]--
	}
}

// cut shortens text to at most width columns.
func cut(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	var short strings.Builder
	room := width - 1 // for the ellipsis
	for g := uniseg.NewGraphemes(text); g.Next() && room >= g.Width(); room -= g.Width() {
		short.WriteString(g.Str())
	}
	return short.String() + "…"
}

// printable is text as a terminal may get it: names come from others, and what moves the cursor is none of their business.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
