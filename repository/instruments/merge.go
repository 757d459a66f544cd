package instruments

import (
	"maps"

	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// edit contains the properties read from a file.
type edit struct {
	file
	ofHeader, ofSidecar descriptive.Group // the properties from each source
}

// pinned is the number of bytes of the schema version, which the repository stores with the
// properties.
const pinned = 80

// merge returns the new descriptive metadata of the file. Values of people have precedence, then
// values of the sidecar, then values of the header, as far as there is room. Values from a source
// that the set has not enabled stay. changes is false if nothing changes or the result would be
// invalid.
func (e edit) merge() (m descriptive.Metadata, changes bool) {
	before, err := rows.ParseDescriptive(e.resource.Descriptive)
	if err != nil {
		return before, false // a check reports it
	}
	m = before
	m.Properties, m.Sources = nil, descriptive.Sources{}
	layers := []struct {
		source string
		asked  bool
		values descriptive.Group
	}{
		{descriptive.FromSidecar, e.from&metadata.ExtractSidecar != 0, e.ofSidecar},
		{descriptive.FromHeader, e.from&metadata.ExtractHeader != 0, e.ofHeader},
	}
	stays := map[string]bool{"": true}
	for _, l := range layers {
		stays[l.source] = !l.asked
	}
	for _, p := range before.Properties {
		if stays[before.Sources[p.Name]] {
			m.Properties = append(m.Properties, p)
			m.Sources[p.Name] = before.Sources[p.Name]
		}
	}
	others := m
	others.Schema = descriptive.SchemaVersion{} // pinned reserves its room
	room := descriptive.MaxBytes - len(others.Append(nil)) - pinned
	for i, l := range layers {
		for _, p := range l.values {
			from, there := m.Sources[p.Name]
			yields := from == descriptive.FromHeader && l.source == descriptive.FromSidecar
			if _, said := layers[0].values.Get(p.Name); there && !yields || said && i > 0 { // also a property left out for lack of room
				continue
			}
			if size := sizeOf(p, l.source); size <= room {
				room -= size
				m.Properties = m.Properties.With(p.Name, p.Value)
				m.Sources[p.Name] = l.source
			}
		}
	}
	maps.DeleteFunc(m.Sources, func(_, source string) bool { return source == "" })
	return m, !m.Equal(before) && m.Validate(descriptive.Resource) == nil
}

// sizeOf returns the maximum number of bytes of a property with its source.
func sizeOf(p descriptive.Property, source string) int {
	name := descriptive.Metadata{Properties: descriptive.Group{p}}
	return len(name.Append(nil)) + 2*len(p.Name) + len(source) + 16
}
