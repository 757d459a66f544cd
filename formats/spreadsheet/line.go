package spreadsheet

import (
	"errors"
	"strings"

	"labshelf/formats/descriptive"
)

// Line is a row that was read. It is valid until the next one is.
type Line struct {
	Row      int    // as spreadsheets count
	ID, ETag string // as they are in the row; "" if they are not
	of       *Reader
	cells    []string
}

// cell returns a cell as UTF-8.
func (l Line) cell(position int) (text string, ansi bool) {
	if position < 0 || position >= len(l.cells) {
		return "", false
	}
	return decode(l.cells[position])
}

func (l Line) plain(position int) string {
	text, _ := l.cell(position)
	return strings.TrimSpace(text)
}

// Edit returns what the row makes of the metadata of its object, which are those of present now. A
// cell that was not edited, or says what is there already, changes nothing. What is wrong with
// cells, or with the whole, is in problems: then after is of no use.
//
// The name is compared only if the row is of the present version of the object.
func (l Line) Edit(present Object, kind descriptive.Kind) (after descriptive.Metadata, problems []Problem) {
	after = present.Metadata
	refuse := func(column, message string) { problems = append(problems, Problem{l.Row, column, message}) }
	for i := l.of.width; i < len(l.cells); i++ {
		if l.plain(i) != "" {
			refuse("", "there is a cell beyond the last column")
			break
		}
	}
	if l.of.name >= 0 && l.isEdited(columnName, l.of.name, l.of.dialect.textCell(present.Name), refuse) && l.ETag == present.ETag {
		refuse(columnName, "a name is not changed here; rename with: labshelf mv")
	}
	var edited []headed
	before := contentOf(present.Metadata)
	for _, c := range l.of.columns {
		if l.isEdited(c.name, c.position, c.cell(l.of.dialect, before), refuse) {
			edited = append(edited, c)
		}
	}
	for _, emptied := range []bool{true, false} { // first, so that a value can be moved to another column
		for _, c := range edited {
			cell, _ := l.cell(c.position)
			if strings.TrimSpace(cell) == "" {
				cell = ""
			}
			if (cell == "") != emptied {
				continue
			}
			if err := c.edit(l.of.dialect, &after, cell); err != nil {
				refuse(c.name, messageOf(err))
			}
		}
	}
	if len(problems) > 0 {
		return after, problems
	}
	err := after.ReadQuantities(present.Metadata)
	if err == nil {
		err = after.Validate(kind)
	}
	var wrong *descriptive.Error
	if errors.As(err, &wrong) && !after.Equal(present.Metadata) {
		refuse(l.columnOf(wrong.Field), messageOf(wrong))
	}
	return after, problems
}

// isEdited tells whether somebody has edited the cell at a position, where shown is what a file
// would have there now.
func (l Line) isEdited(name string, position int, shown string, refuse func(column, message string)) bool {
	cell, ansi := l.cell(position)
	at := place{l.Row, name}
	if ansi {
		l.of.evidence.ansi.note(at)
	} else if !isASCII(cell) {
		l.of.evidence.unicode.note(at)
	}
	if cell == shown {
		if ansi {
			l.of.evidence.proven(cell)
		}
		if !isASCII(name) && cell != "" {
			l.of.evidence.proven(name)
		}
		return false
	}
	if strings.TrimSpace(cell) == "" {
		return shown != ""
	}
	if shown != "" {
		shown = textOf(shown)
		verdict, order := compare(shown, cell)
		l.of.evidence.orders[order].note(at)
		switch verdict {
		case unedited:
			return false
		case doubtful:
			refuse(name, "this may be what a spreadsheet has made of "+shorten(shown)+"; change it with: labshelf describe")
			return false
		}
	}
	l.of.evidence.edited(at, shown, cell, ansi)
	return true
}

// messageOf returns the sentence behind the name of a column.
func messageOf(err error) string {
	var wrong *descriptive.Error
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	return wrong.Rule
}

// columnOf returns the column that a field of an error is in; "" if none is.
func (l Line) columnOf(field string) (name string) {
	field = strings.TrimPrefix(field, descriptive.Root+".")
	for _, c := range l.of.columns {
		if (c.name == field || strings.HasPrefix(field, c.name+".")) && len(c.name) > len(name) {
			name = c.name
		}
	}
	return name
}

// shorten cuts a text for a message.
func shorten(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
