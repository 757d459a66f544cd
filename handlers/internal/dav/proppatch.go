package dav

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"labshelf/repository"
)

// property is one that a client has set.
type property struct {
	Space string `json:"s"`
	Local string `json:"l"`
	Value string `json:"v"` // XML
}

// storedProperties reads the properties that clients have set.
func storedProperties(stored string) (all []property) {
	if stored != "" {
		_ = json.Unmarshal([]byte(stored), &all) // only this package writes it
	}
	return all
}

// deadOf reads the properties that clients have set. Properties that an older version of the
// program has stored and that would break an answer are repaired or left out.
func deadOf(stored string) (all []property) {
	all = storedProperties(stored)
	good := all[:0]
	for _, p := range all {
		var ok bool
		if p.Value, ok = content(p.Value, math.MaxInt); ok && isName(p.Local) && isSpace(p.Space) {
			good = append(good, p)
		}
	}
	return good
}

// content reads stored content of an element again, of up to limit bytes. Not ok: it is not
// well-formed.
func content(stored string, limit int) (text string, ok bool) {
	if !strings.ContainsRune(stored, '<') {
		return stored, len(stored) <= limit
	}
	x := newReader(strings.NewReader("<x>" + stored + "</x>"))
	_, err := x.next()
	if err == nil {
		text, err = x.inner("", limit)
	}
	return text, err == nil
}

func (p property) is(name xml.Name) bool { return p.Space == name.Space && p.Local == name.Local }

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
	_, _ = io.WriteString(w, multiBegin+"><D:response><D:href>"+d.href(r.path, folder)+"</D:href>"+statusOf(changes, protected)+"</D:response>"+multiEnd)
	return nil
}

// changed applies changes to the properties that clients have set.
func changed(stored string, changes []change) (string, error) {
	all := storedProperties(stored)
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
