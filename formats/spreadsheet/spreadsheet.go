// Package spreadsheet writes descriptive metadata as CSV that people edit in a spreadsheet, and
// reads what they send back.
//
// There is a row for each object and a column for each member and each property; docs/how-to/csv.md
// lists them, and describes how a cell is read. Metadata that are written and read again are equal.
//
// Spreadsheets change cells that nobody has edited: they write a date as their country does, drop
// zeros, and round numbers. So a cell is compared with what the object has now, and one that a
// spreadsheet may have made of that is not edited ([Line.Edit]). A cell that is edited is read by
// one rule for all files, and what can be read in two ways is a [Problem].
package spreadsheet

import (
	"fmt"
	"maps"
	"slices"

	"labshelf/formats/descriptive"
)

// MaxColumns is how many columns there are for properties and members, besides those of the object.
// What would have another one is in the column properties, as JSON.
const MaxColumns = 250

// The columns that every file has.
const (
	columnID   = "id"
	columnETag = "etag"
	columnName = "name" // may be deleted
)

// Columns of metadata. Those of groups have the names that lead to a value, with dots between.
const (
	columnTags       = "tags"
	columnProperties = "properties" // what has no column of its own
	propertyPrefix   = columnProperties + "."
)

// Object is what a row is about.
type Object struct {
	ID, ETag, Name string
	Metadata       descriptive.Metadata
}

// Columns are those that a file needs. The zero Columns are those of objects about which nothing is
// said.
type Columns struct {
	members    map[string]bool
	properties map[string]bool
	more       bool // there would be more than MaxColumns
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

// all are the columns of metadata in their order.
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

// Problem is why a file is refused.
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
