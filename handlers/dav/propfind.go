package dav

import (
	"cmp"
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/metadata"
	"labshelf/repository/folders"
)

const (
	xmlHead = `<?xml version="1.0" encoding="utf-8"?>` + "\n"
	xmlType = "application/xml; charset=utf-8"

	multiBegin = xmlHead + `<D:multistatus xmlns:D="DAV:" xmlns:oc="` + ocSpace + `"`
	multiEnd   = "</D:multistatus>"

	pageSize  = 255       // entries of a folder per transaction
	pageBytes = 128 << 10 // bytes of the answer after which a transaction reads no further entry
)

// shown is an entry with additional values for its properties.
type shown struct {
	*folders.DriveEntry
	locks      []lock
	room, used string // bytes; "": unknown
}

func (e *shown) folder() bool { return e.File == nil }

// live are the properties that the service maintains itself, in the order of the answer. Each
// appends XML. It appends nothing if the entry does not have the property.
var live = []struct {
	name   string
	sent   when
	append func(text []byte, e *shown) []byte
}{
	{"D:resourcetype", orEmpty, func(text []byte, e *shown) []byte {
		if e.folder() {
			text = append(text, "<D:collection/>"...)
		}
		return text
	}},
	{"D:displayname", always, func(text []byte, e *shown) []byte { return append(text, escaped(e.Element)...) }},
	{"D:getcontentlength", always, ofFile(func(text []byte, f *metadata.Resource) []byte { return strconv.AppendInt(text, f.Bytes, 10) })},
	{"D:getcontenttype", always, ofFile(func(text []byte, f *metadata.Resource) []byte { return append(text, escaped(f.MimeType)...) })},
	{"D:getetag", always, ofFile(func(text []byte, f *metadata.Resource) []byte { return appendTag(text, f.Digest) })},
	{"D:getlastmodified", always, modified},
	{"D:creationdate", always, created},
	{"D:supportedlock", always, func(text []byte, _ *shown) []byte { return append(text, supportedLocks...) }},
	{"D:lockdiscovery", orEmpty, func(text []byte, e *shown) []byte { return appendLocks(text, e.locks) }},
	{"D:quota-available-bytes", named, func(text []byte, e *shown) []byte { return append(text, e.room...) }},
	{"D:quota-used-bytes", named, func(text []byte, e *shown) []byte { return append(text, e.used...) }},
	{"oc:checksums", named, appendChecksums},
}

// when says when a property is sent to clients that do not name it.
type when uint8

const (
	always  when = iota // if the entry has it
	orEmpty             // also if it is empty
	named               // never
)

func ofFile(add func([]byte, *metadata.Resource) []byte) func([]byte, *shown) []byte {
	return func(text []byte, e *shown) []byte {
		if e.folder() {
			return text
		}
		return add(text, e.File)
	}
}

func modified(text []byte, e *shown) []byte {
	switch {
	case e.File != nil:
		return time.UnixMicro(int64(e.ModifiedAt())).UTC().AppendFormat(text, http.TimeFormat)
	case e.Made != 0:
		return appendTime(text, e.Made, http.TimeFormat)
	case e.Set != nil:
		return appendTime(text, e.Set.Modified, http.TimeFormat)
	case e.Dataspace != nil:
		return appendTime(text, e.Dataspace.Modified, http.TimeFormat)
	}
	return text
}

func created(text []byte, e *shown) []byte {
	switch {
	case e.File != nil:
		return appendTime(text, e.File.Created, time.RFC3339)
	case e.Made != 0:
		return appendTime(text, e.Made, time.RFC3339)
	case e.Set != nil:
		return appendTime(text, e.Set.Created, time.RFC3339)
	case e.Dataspace != nil:
		return appendTime(text, e.Dataspace.Created, time.RFC3339)
	}
	return text
}

func appendTime(text []byte, s metadata.Stamp, layout string) []byte {
	return s.Time().UTC().AppendFormat(text, layout)
}

// liveAt returns the index of a live property in the table, or -1.
func liveAt(name xml.Name) int {
	prefix, known := prefixes[name.Space]
	for at := range live {
		if known && live[at].name == prefix+name.Local {
			return at
		}
	}
	return -1
}

// prefixes are the prefixes that every answer declares, by namespace.
var prefixes = map[string]string{namespace: "D:", ocSpace: "oc:"}

// propfind answers PROPFIND.
func (d *Drive) propfind(w http.ResponseWriter, r *request) error {
	depth := cmp.Or(r.Header.Get("Depth"), "1") // clients without Depth expect no more
	find, err := readPropfind(w, r.Request)
	if err != nil {
		return err
	}
	e, err := d.lookup(r)
	switch {
	case err != nil:
		return err
	case e.File == nil && depth != "0" && depth != "1":
		return &refusal{http.StatusForbidden, "<D:propfind-finite-depth/>"}
	}
	p := &propfinding{drive: d, find: find}
	if find.shows("lockdiscovery") {
		p.locks = locksIn(r.locks.of(r.path, depth == "1", time.Now()), r.path, r.caller.UserID)
	}
	if slices.ContainsFunc(find.props, func(n xml.Name) bool { return n.Space == namespace && strings.HasPrefix(n.Local, "quota-") }) {
		if p.entry.room, p.entry.used, err = d.quota(r, e); err != nil {
			return err
		}
	}
	p.begin()
	begin := len(p.text)
	if p.add(&e, "", r.path); p.hash(r) {
		if e, err = d.lookup(r); err != nil {
			return err
		}
		p.text = p.text[:begin]
		p.add(&e, "", r.path)
	}
	w.Header().Set("Content-Type", xmlType)
	w.Header().Set("Cache-Control", "no-store")
	if depth == "1" && e.File == nil {
		if err := p.children(w, r); err != nil {
			return err
		}
	} else {
		w.WriteHeader(http.StatusMultiStatus)
	}
	_, _ = w.Write(append(p.text, multiEnd...)) // an error means that the client is gone
	return nil
}

// quota returns the available bytes, on the disk and in the quotas, and the used bytes of the
// dataspace. An unknown value is "".
func (d *Drive) quota(r *request, e folders.DriveEntry) (room, used string, err error) {
	free, known, err := d.repo.Uploads.RoomIn(r.Context(), r.caller, e.Dataspace)
	if known {
		room = strconv.FormatInt(free, 10)
	}
	if err != nil || e.Dataspace == nil {
		return room, used, err
	}
	bytes, known, err := d.repo.Drive.UsedBytes(r.Context(), r.caller, e.Dataspace.ID)
	if known {
		used = strconv.FormatInt(bytes, 10)
	}
	return room, used, err
}

// propfinding is an answer to a PROPFIND in progress.
type propfinding struct {
	drive    *Drive
	locks    folderLocks
	find     propfind
	prefixes []string // prefixes of the names in find.props; "": no namespace
	live     []int    // indexes of these names in the table of live properties, or -1
	entry    shown    // the entry that is being added
	unhashed []metadata.ID
	hashed   int64 // bytes read so far for checksums
	text     []byte
}

// begin appends the start of the answer. It declares the namespaces of the requested names once for
// the whole answer.
func (p *propfinding) begin() {
	p.text = append(p.text, multiBegin...)
	known := maps.Clone(prefixes)
	known[""] = ""
	for _, name := range p.find.props {
		prefix, ok := known[name.Space]
		if !ok {
			prefix = "n" + strconv.Itoa(len(known)) + ":"
			known[name.Space] = prefix
			p.text = append(append(append(p.text, " xmlns:"...), prefix[:len(prefix)-1]...), `="`...)
			p.text = append(append(p.text, escaped(name.Space)...), '"')
		}
		p.prefixes, p.live = append(p.prefixes, prefix), append(p.live, liveAt(name))
	}
	p.text = append(p.text, '>')
}

// children sends the entries of a folder in pages. Each page is read in one transaction, and only
// one page is in memory at a time. An error after the first page aborts the answer.
func (p *propfinding) children(w http.ResponseWriter, r *request) error {
	begin := r.path
	if begin != "" {
		begin += "/"
	}
	add := func(e *folders.DriveEntry) bool {
		p.add(e, begin, e.Element)
		return len(p.text) < pageBytes
	}
	var next folders.DrivePosition
	for page, more := 0, true; more; page++ {
		var err error
		from, begin := next, len(p.text)
		next, more, err = p.drive.repo.Drive.List(r.Context(), r.caller, r.at, from, pageSize, add)
		if err == nil && p.hash(r) {
			p.text = p.text[:begin]
			next, more, err = p.drive.repo.Drive.List(r.Context(), r.caller, r.at, from.Again(), pageSize, add)
			p.unhashed = p.unhashed[:0]
		}
		switch {
		case err != nil && page == 0:
			return err
		case err != nil:
			panic(http.ErrAbortHandler)
		case page == 0:
			w.WriteHeader(http.StatusMultiStatus)
		}
		if more {
			if _, err := w.Write(p.text); err != nil {
				return nil // an error means that the client is gone
			}
			p.text = p.text[:0]
		}
	}
	return nil
}

// add appends the properties of an entry. The entry's path is above followed by element.
func (p *propfinding) add(e *folders.DriveEntry, above, element string) {
	s := &p.entry
	s.DriveEntry, s.locks = e, p.locks.of(above+element)
	if e.File != nil && slices.Contains(p.find.props, xml.Name{Space: ocSpace, Local: "checksums"}) {
		if _, known := e.Checksums(); !known {
			p.unhashed = append(p.unhashed, e.File.ID)
		}
	}
	p.text = append(p.text, "<D:response><D:href>"...)
	p.text = p.drive.appendHref(p.text, above, element, s.folder())
	p.text = append(p.text, "</D:href>"...)
	if p.find.all || p.find.names {
		p.addAll(s)
	} else {
		p.addNamed(s)
	}
	p.text = append(p.text, "</D:response>"...)
}

const (
	propBegin  = "<D:propstat><D:prop>"
	propEnd    = "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>"
	propAbsent = "</D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>"
)

// addAll appends all properties, or their names.
func (p *propfinding) addAll(s *shown) {
	p.text = append(p.text, propBegin...)
	for at := range live {
		if live[at].sent != named || slices.Contains(p.live, at) {
			p.addLive(at, s)
		}
	}
	for _, dead := range deadOf(s.Properties) {
		p.addDead(dead)
	}
	p.text = append(p.text, propEnd...)
}

// addNamed appends the requested properties, followed by the names of those that the entry does not
// have.
func (p *propfinding) addNamed(s *shown) {
	var absent []int
	dead := deadOf(s.Properties)
	p.text = append(p.text, propBegin...)
	begin := len(p.text)
	for n, name := range p.find.props {
		if at := p.live[n]; at >= 0 {
			if p.addLive(at, s) {
				continue
			}
		} else if at := slices.IndexFunc(dead, func(d property) bool { return d.is(name) }); at >= 0 {
			p.addDead(dead[at])
			continue
		}
		absent = append(absent, n)
	}
	if len(p.text) > begin || len(absent) == 0 {
		p.text = append(p.text, propEnd...)
	} else {
		p.text = p.text[:begin-len(propBegin)]
	}
	if len(absent) == 0 {
		return
	}
	p.text = append(p.text, propBegin...)
	for _, n := range absent {
		p.text = append(append(append(append(p.text, '<'), p.prefixes[n]...), p.find.props[n].Local...), "/>"...)
	}
	p.text = append(p.text, propAbsent...)
}

// addLive appends a property if the entry has it, and reports whether it does.
func (p *propfinding) addLive(at int, s *shown) (has bool) {
	name, begin := live[at].name, len(p.text)
	text := append(append(append(p.text, '<'), name...), '>')
	value := len(text)
	text = live[at].append(text, s)
	switch {
	case len(text) == value && live[at].sent != orEmpty:
		p.text = text[:begin]
		return false
	case len(text) == value || p.find.names:
		p.text = append(text[:value-1], "/>"...)
	default:
		p.text = append(append(append(text, "</"...), name...), '>')
	}
	return true
}

func (p *propfinding) addDead(dead property) {
	if p.find.names {
		p.text = appendName(p.text, xml.Name{Space: dead.Space, Local: dead.Local})
		return
	}
	p.text = append(append(p.text, `<`...), dead.Local...)
	p.text = append(append(append(p.text, ` xmlns="`...), escaped(dead.Space)...), `">`...)
	p.text = append(append(append(p.text, dead.Value...), "</"...), dead.Local...)
	p.text = append(p.text, '>')
}

// appendName appends an empty element.
func appendName(text []byte, name xml.Name) []byte {
	if name.Space == namespace {
		return append(append(append(text, "<D:"...), name.Local...), "/>"...)
	}
	text = append(append(append(text, '<'), name.Local...), ` xmlns="`...)
	return append(append(text, escaped(name.Space)...), `"/>`...)
}
