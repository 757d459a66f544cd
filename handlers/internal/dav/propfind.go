package dav

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/repository"
)

const (
	xmlHead = `<?xml version="1.0" encoding="utf-8"?>` + "\n"
	xmlType = "application/xml; charset=utf-8"

	multiBegin = xmlHead + `<D:multistatus xmlns:D="DAV:">`
	multiEnd   = "</D:multistatus>"

	pageSize = 255 // entries of a folder that are read in one transaction
)

// shown is an entry with what its properties need besides.
type shown struct {
	*repository.DriveEntry
	path       string
	locks      []lock
	room, used string // bytes; "": not known
}

func (e *shown) folder() bool { return e.File == nil }

// live are the properties that the service keeps itself, in the order in which they are sent. Each returns XML; "": the entry has it not.
var live = []struct {
	name   string
	always bool // it is sent to those who ask for all
	value  func(*shown) string
}{
	{"resourcetype", true, nil}, // the only one that may be there and be empty
	{"displayname", true, func(e *shown) string { return escaped(e.Element) }},
	{"getcontentlength", true, func(e *shown) string { return ofFile(e, func() string { return strconv.FormatInt(e.File.Bytes, 10) }) }},
	{"getcontenttype", true, func(e *shown) string { return ofFile(e, func() string { return escaped(e.File.MimeType) }) }},
	{"getetag", true, func(e *shown) string { return ofFile(e, func() string { return Tag(e.File.Digest) }) }},
	{"getlastmodified", true, modified},
	{"creationdate", true, created},
	{"supportedlock", true, func(*shown) string { return supportedLocks }},
	{"lockdiscovery", true, nil},
	{"quota-available-bytes", false, func(e *shown) string { return e.room }},
	{"quota-used-bytes", false, func(e *shown) string { return e.used }},
}

func ofFile(e *shown, value func() string) string {
	if e.folder() {
		return ""
	}
	return value()
}

func modified(e *shown) string {
	switch {
	case e.File != nil:
		return httpTime(e.File.Modified)
	case e.Made != 0:
		return httpTime(e.Made)
	case e.Set != nil:
		return httpTime(e.Set.Modified)
	case e.Dataspace != nil:
		return httpTime(e.Dataspace.Modified)
	}
	return ""
}

func created(e *shown) string {
	switch {
	case e.File != nil:
		return isoTime(e.File.Created)
	case e.Made != 0:
		return isoTime(e.Made)
	case e.Set != nil:
		return isoTime(e.Set.Created)
	case e.Dataspace != nil:
		return isoTime(e.Dataspace.Created)
	}
	return ""
}

// valueOf returns the XML of a live property of an entry, and whether it has it.
func valueOf(e *shown, at int) (value string, has bool) {
	switch live[at].name {
	case "resourcetype":
		if e.folder() {
			return "<D:collection/>", true
		}
		return "", true
	case "lockdiscovery":
		return activeLocks(e.locks), true
	}
	value = live[at].value(e)
	return value, value != ""
}

// liveAt is where a live property is in the table, -1 for any other.
func liveAt(name xml.Name) int {
	if name.Space != namespace {
		return -1
	}
	for at := range live {
		if live[at].name == name.Local {
			return at
		}
	}
	return -1
}

// property is one that a client has set.
type property struct {
	Space string `json:"s"`
	Local string `json:"l"`
	Value string `json:"v"` // XML
}

// deadOf reads the properties that clients have set.
func deadOf(stored string) (all []property) {
	if stored != "" {
		_ = json.Unmarshal([]byte(stored), &all) // only this package writes it
	}
	return all
}

func (p property) is(name xml.Name) bool { return p.Space == name.Space && p.Local == name.Local }

// propfind answers PROPFIND.
func (d *Drive) propfind(w http.ResponseWriter, r *request) error {
	depth := cmp.Or(r.Header.Get("Depth"), "1") // clients that leave it out want no more
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
	p := &propfinding{drive: d, find: find, now: time.Now()}
	if slices.ContainsFunc(find.props, func(n xml.Name) bool { return n.Space == namespace && strings.HasPrefix(n.Local, "quota-") }) {
		if p.room, p.used, err = d.quota(r, e); err != nil {
			return err
		}
	}
	p.text = append(p.text, multiBegin...)
	p.add(&e, r.path)
	w.Header().Set("Content-Type", xmlType)
	w.Header().Set("Cache-Control", "no-store")
	if depth == "1" && e.File == nil {
		if err := p.children(w, r); err != nil {
			return err
		}
	} else {
		w.WriteHeader(http.StatusMultiStatus)
	}
	_, _ = w.Write(append(p.text, multiEnd...)) // a client that went away gets nothing
	return nil
}

// quota returns how many bytes there is room for, on the disk and in the quotas, and how many the dataspace has; "" where that is not known.
func (d *Drive) quota(r *request, e repository.DriveEntry) (room, used string, err error) {
	free, known, err := d.repo.RoomIn(r.Context(), r.caller, e.Dataspace)
	if known {
		room = strconv.FormatInt(free, 10)
	}
	if err != nil || e.Dataspace == nil {
		return room, used, err
	}
	bytes, err := d.repo.UsedBytes(r.Context(), r.caller, e.Dataspace.ID)
	return room, strconv.FormatInt(bytes, 10), err
}

// propfinding is the answer to a PROPFIND on its way.
type propfinding struct {
	drive      *Drive
	find       propfind
	now        time.Time
	room, used string
	text       []byte
}

// children sends the entries of a folder, a page after the other: each is one transaction, and no more than one is in memory. An error behind the first
// page cuts the answer off.
func (p *propfinding) children(w http.ResponseWriter, r *request) error {
	begin := r.path
	if begin != "" {
		begin += "/"
	}
	var next repository.DrivePosition
	for page, more := 0, true; more; page++ {
		var err error
		next, more, err = p.drive.repo.List(r.Context(), r.caller, r.at, next, pageSize, func(e *repository.DriveEntry) { p.add(e, begin+e.Element) })
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
				return nil // the client went away
			}
			p.text = p.text[:0]
		}
	}
	return nil
}

// add appends the properties of an entry.
func (p *propfinding) add(e *repository.DriveEntry, path string) {
	s := &shown{DriveEntry: e, path: path, room: p.room, used: p.used}
	if p.drive.locks.any() {
		s.locks = p.drive.locks.of(path, false, p.now)
	}
	p.text = append(p.text, "<D:response><D:href>"...)
	p.text = append(p.text, p.drive.href(path, s.folder())...)
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
		if value, has := valueOf(s, at); has && (live[at].always || slices.Contains(p.find.props, xml.Name{Space: namespace, Local: live[at].name})) {
			p.addLive(at, value)
		}
	}
	for _, dead := range deadOf(s.Properties) {
		p.addDead(dead)
	}
	p.text = append(p.text, propEnd...)
}

// addNamed appends the properties that were asked for, and then the names of those that are not there.
func (p *propfinding) addNamed(s *shown) {
	var absent []xml.Name
	dead := deadOf(s.Properties)
	p.text = append(p.text, propBegin...)
	begin := len(p.text)
	for _, name := range p.find.props {
		if at := liveAt(name); at >= 0 {
			if value, has := valueOf(s, at); has {
				p.addLive(at, value)
				continue
			}
		} else if at := slices.IndexFunc(dead, func(d property) bool { return d.is(name) }); at >= 0 {
			p.addDead(dead[at])
			continue
		}
		absent = append(absent, name)
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
	for _, name := range absent {
		p.text = appendName(p.text, name)
	}
	p.text = append(p.text, propAbsent...)
}

func (p *propfinding) addLive(at int, value string) {
	name := live[at].name
	if p.find.names || value == "" {
		p.text = append(append(append(p.text, "<D:"...), name...), "/>"...)
		return
	}
	p.text = append(append(append(p.text, "<D:"...), name...), '>')
	p.text = append(append(append(p.text, value...), "</D:"...), name...)
	p.text = append(p.text, '>')
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

// proppatch answers PROPPATCH: all changes, or none.
func (d *Drive) proppatch(w http.ResponseWriter, r *request) error {
	changes, err := readProppatch(w, r.Request)
	if err != nil {
		return err
	}
	if err := d.admit(r, r.path, false); err != nil {
		return err
	}
	protected := slices.ContainsFunc(changes, func(c change) bool { return liveAt(c.name) >= 0 })
	folder := false
	err = d.repo.ChangeProperties(r.Context(), r.caller, r.at, func(e repository.DriveEntry) (string, error) {
		folder = e.File == nil
		if err := d.meet(r, e.File); err != nil || protected {
			return e.Properties, err
		}
		return changed(e.Properties, changes)
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", xmlType)
	w.WriteHeader(http.StatusMultiStatus)
	_, _ = io.WriteString(w, multiBegin+"<D:response><D:href>"+d.href(r.path, folder)+"</D:href>"+statusOf(changes, protected)+"</D:response>"+multiEnd)
	return nil
}

// changed applies changes to the properties that clients have set.
func changed(stored string, changes []change) (string, error) {
	all := deadOf(stored)
	for _, c := range changes {
		all = slices.DeleteFunc(all, func(p property) bool { return p.is(c.name) })
		if !c.remove {
			all = append(all, property{c.name.Space, c.name.Local, c.value})
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// statusOf says what became of each change: where one is of a property that the service keeps itself, nothing of all.
func statusOf(changes []change, protected bool) string {
	var done, refused, dependent []byte
	for _, c := range changes {
		switch {
		case !protected:
			done = appendName(done, c.name)
		case liveAt(c.name) >= 0:
			refused = appendName(refused, c.name)
		default:
			dependent = appendName(dependent, c.name)
		}
	}
	text := ""
	for _, part := range []struct {
		names  []byte
		status string
	}{
		{done, "200 OK"}, {refused, "403 Forbidden</D:status><D:error><D:cannot-modify-protected-property/></D:error>"}, {dependent, "424 Failed Dependency"},
	} {
		if part.names == nil {
			continue
		}
		status, failure, failed := strings.Cut(part.status, "</D:status>")
		text += propBegin + string(part.names) + "</D:prop><D:status>HTTP/1.1 " + status + "</D:status>"
		if failed {
			text += failure
		}
		text += "</D:propstat>"
	}
	return text
}
