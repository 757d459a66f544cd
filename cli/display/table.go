// Package display formats tables, quantities, times and JSON for people and programs.
package display

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// Unlimited is the width of an output that is not a terminal: nothing is truncated.
const Unlimited = 0

// Width returns the number of columns of a terminal, or Unlimited.
func Width(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok {
		return Unlimited
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return Unlimited
	}
	return width
}

// Table is text in columns. Columns are as wide as their cells. If the terminal is too narrow, the
// widest columns shrink, and their cells end with an ellipsis.
type Table struct {
	Head   []string
	Rows   [][]string
	Whole  []bool // columns that do not shrink; columns beyond its end shrink
	widths []int  // of the rows written so far
}

// Add adds a row. It makes the cells Printable.
func (t *Table) Add(cells ...string) {
	for i, cell := range cells {
		cells[i] = Printable(cell)
	}
	t.Rows = append(t.Rows, cells)
}

// gap separates columns.
const gap = "  "

// Write writes the table to out, in at most width columns unless width is Unlimited. It writes
// nothing without rows. It then removes head and rows, so that a long table can be written in
// parts.
func (t *Table) Write(out io.Writer, width int) error {
	if len(t.Rows) == 0 {
		return nil
	}
	lines := t.Rows
	if len(t.Head) > 0 {
		lines = append([][]string{t.Head}, lines...)
	}
	if t.widths == nil {
		t.widths = make([]int, len(lines[0]))
	}
	for _, line := range lines {
		for i, cell := range line {
			t.widths[i] = max(t.widths[i], uniseg.StringWidth(cell))
		}
	}
	t.Head, t.Rows = nil, nil
	widths := slices.Clone(t.widths)
	if width != Unlimited {
		t.narrow(widths, width-len(gap)*(len(widths)-1))
	}
	var text strings.Builder
	for _, line := range lines {
		for i, cell := range line {
			cell = Cut(cell, widths[i])
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

// LeastWidth is the width at which a column stops shrinking.
const LeastWidth = 8

// narrow shrinks the widest columns until the sum of widths is room, or no column can shrink.
func (t *Table) narrow(widths []int, room int) {
	for {
		sum, widest := 0, -1
		for i, w := range widths {
			sum += w
			if whole := i < len(t.Whole) && t.Whole[i]; !whole && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if sum <= room || widest < 0 || widths[widest] <= LeastWidth {
			return
		}
		widths[widest]--
	}
}

// Cut shortens text to at most width columns.
func Cut(text string, width int) string {
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

// Printable replaces all characters that are not graphic: other users choose the names, which must
// not control the terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// Lines is like Printable for text with several lines.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

// Fprintf is fmt.Fprintf, and makes the text Printable, line by line.
func Fprintf(out io.Writer, format string, args ...any) (int, error) {
	return io.WriteString(out, Lines(fmt.Sprintf(format, args...)))
}

// Fprintln is fmt.Fprintln, and makes the text Printable, line by line.
func Fprintln(out io.Writer, args ...any) (int, error) {
	return io.WriteString(out, Lines(fmt.Sprintln(args...)))
}
