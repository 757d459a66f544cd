// Package spreadsheet writes descriptive metadata as CSV that people edit in a spreadsheet, and
// reads the edited file.
//
// It has a row for each object and a column for each member and each property; docs/how-to/csv.md
// lists them, and describes how a cell is read. Metadata that are written and read again are equal.
//
// Spreadsheets change cells that nobody has edited: they write dates in the format of their
// country, drop zeros, and round numbers. So a cell is compared with the object's current value. A
// cell that a spreadsheet may have made of that value does not count as edited ([Line.Edit]). An
// edited cell is read by one rule for all files, and an ambiguous cell is a [Problem].
package spreadsheet

import (
	"fmt"
	"maps"
	"slices"

	"labshelf/formats/descriptive"
)

// MaxColumns bounds the columns for properties and members, in addition to the object's own.
// Further properties are in the column properties, as JSON.
const MaxColumns = 250

// The columns of every file.
const (
	columnID   = "id"
	columnETag = "etag"
	columnName = "name" // optional in an import
)

// Columns of metadata. A column of a value in a group has the path of names, with dots between.
const (
	columnTags       = "tags"
	columnProperties = "properties" // properties without their own column
	propertyPrefix   = columnProperties + "."
)

// Object is the object of a row.
type Object struct {
	ID, ETag, Name string
	Metadata       descriptive.Metadata
}

// Columns are the columns of a file. The zero Columns are for objects without metadata.
type Columns struct {
	members    map[string]bool
	properties map[string]bool
	more       bool // more than MaxColumns are needed
}

// Add adds the columns that one object needs.
func (c *Columns) Add(m descriptive.Metadata) {
	if c.members == nil {
		c.members, c.properties = map[string]bool{}, map[string]bool{}
	}
	for name := range membersOf(m) {
		c.members[name] = true
	}
	for path := range leaves("", m.Properties) {
		if len(c.properties) >= MaxColumns && !c.properties[path] {
			c.more = true
			continue
		}
		c.properties[path] = true
	}
}

// all returns the columns of metadata in order.
func (c Columns) all() (columns []column) {
	for _, name := range members {
		if c.members[name] {
			columns = append(columns, column{name: name, kind: memberColumn})
		}
	}
	columns = append(columns, column{name: columnTags, kind: tagsColumn})
	for _, path := range slices.Sorted(maps.Keys(c.properties)) {
		columns = append(columns, column{name: propertyPrefix + path, kind: propertyColumn, path: path})
	}
	if c.more {
		columns = append(columns, column{name: columnProperties, kind: restColumn, others: c.properties})
	}
	return columns
}

// Problem is the reason why a file is rejected.
type Problem struct {
	Row     int    // as spreadsheets count: the header is row 1; 0: the whole file
	Column  string // its name in the header; "": the whole row
	Message string
}

func (p *Problem) Error() string {
	switch {
	case p.Row == 0:
		return p.Message
	case p.Column == "":
		return fmt.Sprintf("row %d: %s", p.Row, p.Message)
	}
	return fmt.Sprintf("row %d, column %s: %s", p.Row, p.Column, p.Message)
}
