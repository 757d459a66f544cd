package spreadsheet

import (
	"errors"
	"strings"

	"labshelf/formats/descriptive"
)

// Line is a row of the file. It is valid until the next one is read.
type Line struct {
	Row      int    // as spreadsheets count
	ID, ETag string // as in the row; "" if the cells are empty
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

// Edit applies a row to the metadata of its object; present has the current metadata. A cell that
// was not edited, or contains the current value, changes nothing. Problems of cells, or of the
// whole, are in problems; then after must not be used.
//
// The name is compared only if the row belongs to the current version of the object.
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
		refuse(columnName, "a name cannot be changed here; rename the file with: labshelf mv")
	}
	var edited []headed
	before := contentOf(present.Metadata)
	for _, c := range l.of.columns {
		if l.isEdited(c.name, c.position, c.cell(l.of.dialect, before), refuse) {
			edited = append(edited, c)
		}
	}
	for _, emptied := range []bool{true, false} { // first, so that a value can move to another column
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

// isEdited reports whether somebody has edited the cell at a position. shown is the cell that an
// export would contain now.
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
			refuse(name, "a spreadsheet may have created this value from "+shorten(shown)+"; change it with: labshelf describe")
			return false
		}
	}
	l.of.evidence.edited(at, shown, cell, ansi)
	return true
}

// messageOf returns the rule of an error, to follow the name of a column.
func messageOf(err error) string {
	var wrong *descriptive.Error
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	return wrong.Rule
}

// columnOf returns the column of a field in an error, or "".
func (l Line) columnOf(field string) (name string) {
	field = strings.TrimPrefix(field, descriptive.Root+".")
	for _, c := range l.of.columns {
		if (c.name == field || strings.HasPrefix(field, c.name+".")) && len(c.name) > len(name) {
			name = c.name
		}
	}
	return name
}

// shorten truncates a text for a message.
func shorten(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
