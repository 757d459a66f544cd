package spreadsheet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"labshelf/formats/descriptive"
)

// column is one column of metadata.
type column struct {
	name   string // in the header
	kind   columnKind
	path   string          // of propertyColumn
	others map[string]bool // of restColumn: the paths with their own column
}

type columnKind uint8

const (
	memberColumn columnKind = iota
	tagsColumn
	propertyColumn
	restColumn
)

// members are the members of the DataCite kernel, in the order of columns. Their cells are JSON, or
// one string.
var members = []string{
	"creators", "publisher", "publicationYear", "resourceType", "licence", "keywords", "related", "dates", "funding", "places",
}

var textMembers = []string{"publisher", "resourceType", "licence"}

// membersOf returns the JSON of the members with their own columns, except tags and properties.
func membersOf(m descriptive.Metadata) map[string]jsontext.Value {
	m.Tags, m.Properties = nil, nil
	if m.IsZero() {
		return nil
	}
	all := map[string]jsontext.Value{}
	_ = json.Unmarshal(m.Append(nil), &all) // the canonical form is always an object
	for name := range all {
		if !slices.Contains(members, name) {
			delete(all, name)
		}
	}
	return all
}

// columnOf returns the column of metadata with this name in a header.
func columnOf(name string) (c column, ok bool) {
	path, isProperty := strings.CutPrefix(name, propertyPrefix)
	switch {
	case isProperty:
		return column{name: name, kind: propertyColumn, path: path}, true
	case name == columnTags:
		return column{name: name, kind: tagsColumn}, true
	case name == columnProperties:
		return column{name: name, kind: restColumn}, true
	}
	return column{name: name, kind: memberColumn}, slices.Contains(members, name)
}

// content is the metadata of one row, with its members encoded once for all columns.
type content struct {
	descriptive.Metadata
	members map[string]jsontext.Value
}

func contentOf(m descriptive.Metadata) content { return content{m, membersOf(m)} }

// cell returns the text of the column's cell, or "" if the column does not apply.
func (c column) cell(d dialect, m content) string {
	switch c.kind {
	case propertyColumn:
		if v, ok := at(m.Properties, c.path); ok {
			return d.cellOf(v)
		}
	case tagsColumn:
		if len(m.Tags) > 0 {
			return d.textCell(strings.Join(m.Tags, ", "))
		}
	case restColumn:
		if rest := c.rest("", m.Properties); len(rest) > 0 {
			return jsonOf(descriptive.GroupOf(rest))
		}
	case memberColumn:
		value := m.members[c.name]
		if !slices.Contains(textMembers, c.name) || len(value) == 0 {
			return disarmed(string(value))
		}
		var text string
		_ = json.Unmarshal(value, &text) // a string in the canonical form
		return d.textCell(text)
	}
	return ""
}

// rest returns the properties of a group without their own column.
func (c column) rest(prefix string, g descriptive.Group) (rest descriptive.Group) {
	for _, p := range g {
		path, inner := prefix+p.Name, p.Value.Group()
		switch {
		case len(inner) > 0:
			if kept := c.rest(path+".", inner); len(kept) > 0 {
				rest = append(rest, descriptive.Property{Name: p.Name, Value: descriptive.GroupOf(kept)})
			}
		case !c.others[path]:
			rest = append(rest, p)
		}
	}
	return rest
}

// errInTheWay is the error of a value instead of a group, or of a group instead of a value.
var errInTheWay = errors.New("a value and a group have this name; empty the cell of one of them")

// edit changes m according to an edited cell; "" removes the value.
func (c column) edit(d dialect, m *descriptive.Metadata, cell string) error {
	switch c.kind {
	case propertyColumn:
		return c.editProperty(d, m, cell)
	case tagsColumn:
		m.Tags = nil
		for tag := range strings.SplitSeq(textOf(cell), ",") {
			if tag = strings.TrimSpace(tag); tag != "" {
				m.Tags = append(m.Tags, tag)
			}
		}
		return nil
	}
	value := cell
	switch {
	case cell == "" && c.kind == restColumn: // an empty cell keeps its properties, like a missing column
		return nil
	case cell == "":
		value = "null"
	case slices.Contains(textMembers, c.name):
		quoted, err := jsontext.AppendQuote(nil, textOf(cell))
		if err != nil {
			return err
		}
		value = string(quoted)
	case !jsontext.Value(cell).IsValid():
		return errors.New("must be JSON, in the form of this column in a downloaded file")
	}
	edited, err := m.Merge([]byte(fmt.Sprintf(`{"%s":%s}`, c.name, value)))
	if err == nil {
		*m = edited
	}
	return err
}

func (c column) editProperty(d dialect, m *descriptive.Metadata, cell string) error {
	if cell == "" {
		m.Properties = without(m.Properties, c.path)
		return nil
	}
	v, err := d.valueOf(cell)
	if err != nil {
		return err
	}
	g, ok := with(m.Properties, c.path, v)
	if !ok {
		return errInTheWay
	}
	m.Properties = g
	return nil
}
