package instruments

import (
	"maps"

	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// edit is what was read of a file.
type edit struct {
	file
	ofHeader, ofSidecar descriptive.Group // what each says
}

// pinned is how many bytes the version of a schema takes, which the repository notes with the
// properties.
const pinned = 80

// merge returns what is to be said about the file: values of people stay, then those of the sidecar
// count, then those of the header, as far as there is room. Of a source that the set does not ask
// for, what is there stays. changes is false where nothing is to be changed, or nothing can be.
func (e edit) merge() (m descriptive.Metadata, changes bool) {
	before, err := rows.ParseDescriptive(e.resource.Descriptive)
	if err != nil {
		return before, false // for a check to tell
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
	others.Schema = descriptive.SchemaVersion{} // or there would be less room once it is noted
	room := descriptive.MaxBytes - len(others.Append(nil)) - pinned
	for i, l := range layers {
		for _, p := range l.values {
			from, there := m.Sources[p.Name]
			yields := from == descriptive.FromHeader && l.source == descriptive.FromSidecar
			if _, said := layers[0].values.Get(p.Name); there && !yields || said && i > 0 { // also one that was left out for want of room
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

// sizeOf is how many bytes a property takes at most, with its source.
func sizeOf(p descriptive.Property, source string) int {
	name := descriptive.Metadata{Properties: descriptive.Group{p}}
	return len(name.Append(nil)) + 2*len(p.Name) + len(source) + 16
}
