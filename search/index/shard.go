package index

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"labshelf/search"
)

// A shard contains documents of one dataspace, ordered by folded name, then id. It is a bundle of
// the sections below, and refers to no other shard. A search therefore reads only shards of
// readable dataspaces.

// maxDocs and maxPositions limit a shard, and thereby the memory of a merge. A large dataspace has
// several shards.
const (
	maxDocs      = 1 << 15
	maxPositions = 1 << 22
)

// Sections of a shard. For shared values, a table has the distinct values, and a column has the
// number of each document's value.
const (
	secCount  = iota // number of documents, a column of one
	secNames         // blocks of names: each the length of the prefix shared with the previous name, and the rest
	secBlocks        // start of each block
	secIDs
	secSets     // distinct ids of sets
	secSetOf    // number of the set
	secFlags    // kind and incompleteFlag
	secStamps   // µs
	secCreated  // µs
	secSizes    // bytes
	secYears    //
	secTypes    // table
	secTypeOf   //
	secUploader // table
	secUploaded // number of the uploader
	secTags     // table of labels
	secTagEnds  // end of the tags of each document in secTagOf
	secTagOf    //
	secCreators // as the tags
	secCreatorEnds
	secCreatorOf
	secPaths  // table of paths of properties
	secValues // a bundle with the values of each path
	secZones  // zoneCount of them follow
	sections  = secZones + zoneCount
)

// shardWriter builds a shard from rows in order.
type shardWriter struct {
	n                                    int
	names                                []byte
	blocks                               []uint64
	lastName                             string
	ids                                  []byte
	sets, types, uploaders               numbering
	flags, stamps, created, sizes, years []uint64
	tags, creators                       lists
	properties                           map[string]*values
	texts                                [zoneCount]zoneTexts
	postings                             [zoneCount]*wordWriter
}

// numbering numbers distinct texts in order of appearance; bytes sorts them.
type numbering struct {
	numbers map[string]uint64
	of      []uint64
}

func (t *numbering) number(text string) uint64 {
	n, ok := t.numbers[text]
	if !ok {
		if t.numbers == nil {
			t.numbers = map[string]uint64{}
		}
		n = uint64(len(t.numbers))
		t.numbers[strings.Clone(text)] = n
	}
	return n
}

// sorted returns the texts in byte order, and the new number of each given text.
func (t *numbering) sorted() (texts []string, of []uint64) {
	texts = slices.Sorted(maps.Keys(t.numbers))
	renumber := make([]uint64, len(texts))
	for i, text := range texts {
		renumber[t.numbers[text]] = uint64(i)
	}
	of = make([]uint64, len(t.of))
	for i, n := range t.of {
		of[i] = renumber[n]
	}
	return texts, of
}

// lists are the labels of each document.
type lists struct {
	numbering
	ends []uint64
}

func (l *lists) add(all []label) {
	for _, one := range all {
		l.of = append(l.of, l.number(labelText(one)))
	}
	l.ends = append(l.ends, uint64(len(l.of)))
}

// namesInBlock is the number of names in a block.
const namesInBlock = 16

// add adds the next row.
func (w *shardWriter) add(r *row) {
	shared := 0
	if w.n%namesInBlock == 0 {
		w.blocks = append(w.blocks, uint64(len(w.names)))
	} else {
		shared = commonPrefix(w.lastName, r.name)
	}
	w.names = appendName(w.names, shared, r.name)
	w.lastName = r.name
	w.ids = append(w.ids, r.id[:]...)
	w.sets.of = append(w.sets.of, w.sets.number(string(r.set[:])))
	w.types.of = append(w.types.of, w.types.number(r.types))
	w.uploaders.of = append(w.uploaders.of, w.uploaders.number(r.uploader))
	w.flags = append(w.flags, r.flags)
	w.stamps = append(w.stamps, r.stamp)
	w.created = append(w.created, r.created)
	w.sizes = append(w.sizes, r.size)
	w.years = append(w.years, r.year)
	w.tags.add(r.tags)
	w.creators.add(r.creators)
	w.n++
}

// bytes returns the shard.
func (w *shardWriter) bytes() []byte {
	var s [sections][]byte
	s[secCount] = columnOf([]uint64{uint64(w.n)})
	s[secNames], s[secBlocks], s[secIDs] = w.names, columnOf(w.blocks), w.ids
	sets, setOf := w.sets.sorted()
	s[secSets], s[secSetOf] = []byte(strings.Join(sets, "")), columnOf(setOf)
	s[secFlags], s[secStamps], s[secCreated] = columnOf(w.flags), columnOf(w.stamps), columnOf(w.created)
	s[secSizes], s[secYears] = columnOf(w.sizes), columnOf(w.years)
	put := func(section int, t *numbering) {
		texts, of := t.sorted()
		s[section], s[section+1] = tableOf(texts), columnOf(of)
	}
	put(secTypes, &w.types)
	put(secUploader, &w.uploaders)
	put(secTags, &w.tags.numbering)
	s[secTagEnds], s[secTagOf] = columnOf(w.tags.ends), s[secTagEnds]
	put(secCreators, &w.creators.numbering)
	s[secCreatorEnds], s[secCreatorOf] = columnOf(w.creators.ends), s[secCreatorEnds]
	if paths := slices.Sorted(maps.Keys(w.properties)); len(paths) > 0 {
		var all [][]byte
		for _, path := range paths {
			all = append(all, w.properties[path].bytes())
		}
		s[secPaths], s[secValues] = tableOf(paths), appendBundle(nil, all...)
	}
	for z := range zoneCount {
		s[secZones+z] = zoneBytes(w.postings[z], &w.texts[z], w.n)
	}
	return appendBundle(nil, s[:]...)
}

// buildShard returns a shard of documents of one dataspace, which it sorts.
func buildShard(docs []*search.Document) []byte {
	rows := make([]row, len(docs))
	order := make([]int, len(docs))
	for i, d := range docs {
		rows[i], order[i] = rowOf(d), i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(rows[i].name, rows[j].name), slices.Compare(rows[i].id[:], rows[j].id[:]))
	})
	w := shardWriter{properties: map[string]*values{}}
	for doc, i := range order {
		w.add(&rows[i])
		addProperties(w.properties, docs[i], doc)
	}
	for z := range zoneCount {
		words := invert{}
		for doc, i := range order {
			t := &w.texts[z]
			t.add(doc, words.addWords(docs[i], z, t.next))
		}
		w.postings[z] = words.writer()
	}
	return w.bytes()
}

// shard reads the format of shardWriter.
type shard struct {
	n    int
	data bundle
}

func openShard(b []byte) shard {
	s := shard{data: openBundle(b, sections)}
	c := s.column(secCount)
	s.n = int(c.at(0))
	return s
}

func (s *shard) column(section int) column { return openColumn(s.data.part(section)) }
func (s *shard) table(section int) table   { return openTable(s.data.part(section)) }
func (s *shard) zone(z int) zone           { return openZone(s.data.part(secZones + z)) }

// id returns the id of a document.
func (s *shard) id(doc int) [16]byte {
	return [16]byte(s.data.part(secIDs)[16*doc:])
}

// set returns the id of a set by number.
func (s *shard) set(number int) [16]byte {
	return [16]byte(s.data.part(secSets)[16*number:])
}

// values returns the values of a path.
func (s *shard) values(path string) (storedValues, bool) {
	paths := s.table(secPaths)
	i, ok := paths.find([]byte(path))
	if !ok {
		return storedValues{}, false
	}
	return openValues(openBundle(s.data.part(secValues), paths.n).part(i)), true
}

// labelsOf reads the labels of the documents of a shard.
type labelsOf struct {
	labels   table
	ends, of column
}

func (s *shard) labels(section int) labelsOf {
	return labelsOf{s.table(section), s.column(section + 1), s.column(section + 2)}
}

// bounds returns the range of the label numbers of a document in of.
func (l *labelsOf) bounds(doc int) (begin, end int) {
	if doc > 0 {
		begin = int(l.ends.at(doc - 1))
	}
	return begin, int(l.ends.at(doc))
}

// list returns the labels of a document.
func (l *labelsOf) list(doc int) []label {
	var all []label
	for i, end := l.bounds(doc); i < end; i++ {
		folded, written := openLabel(l.labels.at(int(l.of.at(i))))
		all = append(all, label{string(folded), string(written)})
	}
	return all
}

// rows reads the documents of a shard back as rows.
type rows struct {
	shard                                               *shard
	sets, flags, stamps, created, sizes, years, typ, up column
	types, uploaders                                    table
	tags, creators                                      labelsOf
	names                                               nameReader
}

func (s *shard) rows() rows {
	return rows{
		shard: s, sets: s.column(secSetOf), flags: s.column(secFlags), stamps: s.column(secStamps), created: s.column(secCreated),
		sizes: s.column(secSizes), years: s.column(secYears), typ: s.column(secTypeOf), up: s.column(secUploaded),
		types: s.table(secTypes), uploaders: s.table(secUploader), tags: s.labels(secTags), creators: s.labels(secCreators),
		names: s.names(),
	}
}

// at returns the row of a document.
func (r *rows) at(doc int) row {
	return row{
		id: r.shard.id(doc), set: r.shard.set(int(r.sets.at(doc))),
		flags: r.flags.at(doc), stamp: r.stamps.at(doc), created: r.created.at(doc), size: r.sizes.at(doc), year: r.years.at(doc),
		name:     string(r.names.at(doc)),
		types:    string(r.types.at(int(r.typ.at(doc)))),
		uploader: string(r.uploaders.at(int(r.up.at(doc)))),
		tags:     r.tags.list(doc), creators: r.creators.list(doc),
	}
}
