package dav

import (
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"labshelf/auth/errs"
	"labshelf/repository/folders"
)

// property is a dead property, set by a client.
type property struct {
	Space string `json:"s"`
	Local string `json:"l"`
	Value string `json:"v"` // XML
}

// storedProperties decodes the stored dead properties.
func storedProperties(stored string) (all []property) {
	if stored != "" {
		_ = json.Unmarshal([]byte(stored), &all) // only this package writes the JSON
	}
	return all
}

// deadOf decodes the stored dead properties. It repairs or omits properties of older program
// versions that would make an answer invalid.
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

// content normalizes the stored content of an element, up to limit bytes. ok is false if the
// content is not well-formed.
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

// proppatch answers PROPPATCH. It applies all changes or none.
func (d *Drive) proppatch(w http.ResponseWriter, r *request) error {
	changes, err := readProppatch(w, r.Request)
	if err != nil {
		return err
	}
	if err := d.admit(r, r.path, false); err != nil {
		return err
	}
	protected, folder, admits := false, false, d.guard(r, r.path, false)
	err = d.repo.Drive.ChangeProperties(r.Context(), r.caller, r.at, func(e *folders.DriveEntry) error {
		protected, folder = false, e.File == nil
		if err := admits(true); err != nil {
			return err
		}
		if err := d.meet(r, e.File); err != nil {
			return err
		}
		for n := range changes {
			changes[n].protected = changes[n].refused(e)
			protected = protected || changes[n].protected
		}
		if protected {
			return nil
		}
		return apply(e, changes)
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", xmlType)
	w.WriteHeader(http.StatusMultiStatus)
	_, _ = io.WriteString(w, multiBegin+"><D:response><D:href>"+d.href(r.path, folder)+"</D:href>"+statusOf(changes, protected)+"</D:response>"+multiEnd)
	return nil
}

// timed are the properties with which clients set the modification time of a file. The value
// reports whether the property is stored, too: Windows reads its own property again.
var timed = map[xml.Name]bool{
	{Space: namespace, Local: "lastmodified"}: false, {Space: namespace, Local: "getlastmodified"}: false,
	{Space: "urn:schemas-microsoft-com:", Local: "Win32LastModifiedTime"}: true,
}

// refused reports whether the change is refused because the service maintains the property itself.
func (c change) refused(e *folders.DriveEntry) bool {
	stored, isTime := timed[c.name]
	switch {
	case isTime && (c.remove || e.File == nil):
		return !stored
	case c.name == xml.Name{Space: ocSpace, Local: "checksums"}:
		return c.remove || e.File == nil || !consistent(e, plainText(c.value))
	}
	return liveAt(c.name) >= 0 && !isTime
}

// consistent reports whether the checksums that a client sets may be right. rclone sets them
// together with the time.
func consistent(e *folders.DriveEntry, text string) bool {
	all, err := announced([]string{text})
	known, ok := e.Checksums()
	for _, sum := range all {
		is, compared := map[string]string{"SHA256": e.File.Digest.String()}[sum.algorithm]
		if ok && sum.algorithm == "SHA1" {
			is, compared = hex.EncodeToString(known.SHA1[:]), true
		} else if ok && sum.algorithm == "MD5" {
			is, compared = hex.EncodeToString(known.MD5[:]), true
		}
		if compared && is != sum.want {
			return false
		}
	}
	return err == nil
}

// plainText returns the character data in the content of an element.
func plainText(content string) string {
	var text strings.Builder
	for x := newReader(strings.NewReader("<x>" + content + "</x>")); ; {
		token, err := x.next()
		if err != nil {
			return strings.TrimSpace(text.String())
		}
		if data, ok := token.(xml.CharData); ok {
			text.Write(data)
		}
	}
}

// apply applies changes to the stored properties and times of a file or folder. None of the changes
// may be refused ones.
func apply(e *folders.DriveEntry, changes []change) error {
	all := storedProperties(e.Properties)
	for _, c := range changes {
		stored, isTime := timed[c.name]
		if isTime && !c.remove && e.File != nil {
			at, ok := parseTime(plainText(c.value))
			if !ok {
				return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: c.name.Local,
					Message: c.name.Local + " must be an HTTP date, an RFC 3339 time or a number of seconds since 1970"}
			}
			if err := e.SetModified(at); err != nil {
				return err
			}
		}
		if isTime && !stored || c.name.Space == ocSpace && liveAt(c.name) >= 0 {
			continue
		}
		all = slices.DeleteFunc(all, func(p property) bool { return p.is(c.name) })
		if !c.remove {
			all = append(all, property{c.name.Space, c.name.Local, c.value})
		}
	}
	if len(all) == 0 {
		e.Properties = ""
		return nil
	}
	text, err := json.Marshal(all)
	e.Properties = string(text)
	return err
}

// parseTime parses a time in one of the formats of clients. A space may replace the T of RFC 3339.
func parseTime(text string) (at time.Time, ok bool) {
	if at, ok = parseSeconds(text); ok {
		return at, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, strings.Replace(text, " ", "T", 1))
	}
	return at, err == nil
}

// statusOf returns the result of each change. If one change concerns a protected property, no
// change is made.
func statusOf(changes []change, protected bool) string {
	var done, refused, dependent []byte
	for _, c := range changes {
		switch {
		case !protected:
			done = appendName(done, c.name)
		case c.protected:
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
