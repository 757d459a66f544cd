package dav

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"labshelf/errs"
)

const (
	namespace = "DAV:"
	maxXML    = 1 << 20 // bytes of the body of a request
	maxNames  = 1_000   // properties that one request names
)

func badXML(err error) error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidBody, Message: "the body is not the XML that this method takes", Err: err}
}

// maxDepth bounds how deep elements may be in each other, since each is read by a call within another.
const maxDepth = 100

// reader reads elements of a body.
type reader struct {
	*xml.Decoder
	depth *int
}

// open returns a reader of a body, and its first element; io.EOF: it is empty.
func open(w http.ResponseWriter, r *http.Request) (x reader, root xml.StartElement, err error) {
	x = reader{xml.NewDecoder(http.MaxBytesReader(w, r.Body, maxXML)), new(int)}
	for {
		token, err := x.RawOrEnd()
		if err != nil {
			return x, root, err
		}
		if start, ok := token.(xml.StartElement); ok {
			return x, start, nil
		}
	}
}

var (
	errNamespace = errors.New("a prefix stands for no namespace")
	errDepth     = errors.New("the elements are too deep in each other")
)

// RawOrEnd is Token, and refuses a prefix for no namespace, which the parser of the library takes.
func (x reader) RawOrEnd() (xml.Token, error) {
	token, err := x.Token()
	if _, end := token.(xml.EndElement); end {
		*x.depth--
	}
	if start, ok := token.(xml.StartElement); ok && err == nil {
		if *x.depth++; *x.depth > maxDepth {
			return nil, errDepth
		}
		for _, a := range start.Attr {
			if a.Name.Space == "xmlns" && a.Value == "" {
				return nil, errNamespace
			}
		}
	}
	return token, err
}

// children calls fn for each element in the present one, and returns behind its end. fn reads to the end of the element.
func (x reader) children(fn func(xml.StartElement) error) error {
	for {
		token, err := x.RawOrEnd()
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := fn(token); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// skip reads to the end of the present element.
func (x reader) skip() error {
	return x.children(func(xml.StartElement) error { return x.skip() })
}

// inner returns what is in the present element, written so that it can stand anywhere.
func (x reader) inner() (string, error) {
	var out bytes.Buffer
	for depth := 0; ; {
		token, err := x.RawOrEnd()
		if err != nil {
			return "", err
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			writeStart(&out, token)
		case xml.EndElement:
			if depth--; depth < 0 {
				return out.String(), nil
			}
			out.WriteString("</" + token.Name.Local + ">")
		case xml.CharData:
			escape(&out, string(token))
		}
	}
}

// writeStart writes a start tag that names its namespace itself.
func writeStart(out *bytes.Buffer, start xml.StartElement) {
	out.WriteString("<" + start.Name.Local + ` xmlns="`)
	escape(out, start.Name.Space)
	out.WriteString(`"`)
	for i, a := range start.Attr {
		switch {
		case a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns":
			continue
		case a.Name.Space == "":
			out.WriteString(" " + a.Name.Local)
		case a.Name.Space == "xml" || a.Name.Space == "http://www.w3.org/XML/1998/namespace":
			out.WriteString(" xml:" + a.Name.Local)
		default:
			prefix := "n" + strconv.Itoa(i)
			out.WriteString(" xmlns:" + prefix + `="`)
			escape(out, a.Name.Space)
			out.WriteString(`" ` + prefix + ":" + a.Name.Local)
		}
		out.WriteString(`="`)
		escape(out, a.Value)
		out.WriteString(`"`)
	}
	out.WriteString(">")
}

// escape writes a text for an element or an attribute.
func escape(out io.Writer, text string) { _ = xml.EscapeText(out, []byte(text)) } // a buffer takes all

func escaped(text string) string {
	if !strings.ContainsAny(text, "<>&\"'\t\r\n") && utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	escape(&out, text)
	return out.String()
}

// propfind is what a PROPFIND asks for.
type propfind struct {
	names bool       // only the names of all properties
	all   bool       // the properties that RFC 4918 defines, and all dead ones; with those in props
	props []xml.Name // these
}

// readPropfind reads the body of a PROPFIND. None asks for all.
func readPropfind(w http.ResponseWriter, r *http.Request) (find propfind, err error) {
	x, root, err := open(w, r)
	switch {
	case errors.Is(err, io.EOF):
		return propfind{all: true}, nil
	case err != nil:
		return find, badXML(err)
	case root.Name != xml.Name{Space: namespace, Local: "propfind"}:
		return find, badXML(nil)
	}
	err = x.children(func(e xml.StartElement) error {
		if e.Name.Space != namespace {
			return x.skip()
		}
		switch e.Name.Local {
		case "allprop":
			find.all = true
		case "propname":
			find.names = true
		case "prop", "include":
			return x.children(func(named xml.StartElement) error {
				if find.props = append(find.props, named.Name); len(find.props) > maxNames {
					return errors.New("too many properties")
				}
				return x.skip()
			})
		}
		return x.skip()
	})
	if err == nil && !find.all && !find.names && find.props == nil {
		err = errors.New("it asks for nothing")
	}
	if err != nil {
		return find, badXML(err)
	}
	return find, nil
}

// change is a change of one property.
type change struct {
	name   xml.Name
	remove bool
	value  string // XML
}

// readProppatch reads the body of a PROPPATCH: the changes in their order.
func readProppatch(w http.ResponseWriter, r *http.Request) (changes []change, err error) {
	x, root, err := open(w, r)
	if err == nil && root.Name != (xml.Name{Space: namespace, Local: "propertyupdate"}) {
		err = errors.New("another element")
	}
	if err != nil {
		return nil, badXML(err)
	}
	err = x.children(func(e xml.StartElement) error {
		remove := e.Name.Local == "remove"
		if e.Name.Space != namespace || !remove && e.Name.Local != "set" {
			return x.skip()
		}
		return x.children(func(prop xml.StartElement) error {
			return x.children(func(named xml.StartElement) error {
				c := change{name: named.Name, remove: remove}
				c.value, err = x.inner()
				if changes = append(changes, c); len(changes) > maxNames {
					return errors.New("too many properties")
				}
				return err
			})
		})
	})
	if err == nil && changes == nil {
		err = errors.New("it changes nothing")
	}
	if err != nil {
		return nil, badXML(err)
	}
	return changes, nil
}

// readLock reads the body of a LOCK. None: a lock is to be refreshed.
func readLock(w http.ResponseWriter, r *http.Request) (l lock, refresh bool, err error) {
	x, root, err := open(w, r)
	if errors.Is(err, io.EOF) {
		return l, true, nil
	}
	if err == nil && root.Name != (xml.Name{Space: namespace, Local: "lockinfo"}) {
		err = errors.New("another element")
	}
	if err != nil {
		return l, false, badXML(err)
	}
	var scope, kind string
	only := func(into *string) error {
		return x.children(func(e xml.StartElement) error {
			*into = e.Name.Local
			return x.skip()
		})
	}
	err = x.children(func(e xml.StartElement) error {
		switch e.Name {
		case xml.Name{Space: namespace, Local: "lockscope"}:
			return only(&scope)
		case xml.Name{Space: namespace, Local: "locktype"}:
			return only(&kind)
		case xml.Name{Space: namespace, Local: "owner"}:
			var err error
			l.owner, err = x.inner()
			return err
		}
		return x.skip()
	})
	if err == nil && (scope != "exclusive" && scope != "shared" || kind != "write") {
		err = errors.New("it is no write lock")
	}
	if err != nil {
		return l, false, badXML(err)
	}
	l.shared = scope == "shared"
	return l, false, nil
}
