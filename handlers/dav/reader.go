package dav

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"labshelf/auth/errs"
	"labshelf/handlers/internal/body"
)

// Bounds of the XML in a request.
const (
	maxXML        = 64 << 10 // bytes of a body
	maxDepth      = 32       // nested elements; each level is a nested call
	maxAttributes = 32       // of an element
	maxNames      = 128      // properties in a request
	maxName       = 255      // bytes of a name
	maxAllNames   = 4 << 10  // bytes of all property names in a request
	maxNamespace  = 512      // bytes of a namespace
)

const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
)

// reader reads the elements of an XML document with their namespaces. It refuses documents that are
// not well-formed or exceed a bound. encoding/xml alone accepts undeclared prefixes, names with
// empty parts and repeated attributes.
type reader struct {
	decoder *xml.Decoder
	open    []element
	scope   []binding // bindings of all open elements; later bindings hide earlier ones
}

// element is an open element.
type element struct {
	raw      xml.Name // as written in the document
	bindings int      // length of scope before the element
}

// binding binds a prefix to a namespace. The prefix "" is the default namespace.
type binding struct{ prefix, space string }

func newReader(from io.Reader) *reader { return &reader{decoder: xml.NewDecoder(from)} }

// open returns a reader of the body of a request, and the root element. It returns io.EOF for an
// empty body.
func open(w http.ResponseWriter, r *http.Request) (x *reader, root xml.StartElement, err error) {
	x = newReader(http.MaxBytesReader(w, r.Body, maxXML))
	for {
		token, err := x.next()
		if err != nil {
			return x, root, err
		}
		if start, ok := token.(xml.StartElement); ok {
			return x, start, nil
		}
	}
}

// badBody is an error with the reason why a body is refused. large is set if the body exceeds a
// bound.
type badBody struct {
	reason string
	large  bool
}

func (e *badBody) Error() string { return e.reason }

func bad(format string, args ...any) error { return &badBody{reason: fmt.Sprintf(format, args...)} }

func tooMuch(format string, args ...any) error { return &badBody{fmt.Sprintf(format, args...), true} }

// badXML returns the client's error for an invalid body. If err is nil, the root element is wrong.
func badXML(method string, err error) error {
	reason := "it has another root element"
	syntax, isSyntax := errors.AsType[*xml.SyntaxError](err)
	known, isKnown := errors.AsType[*badBody](err)
	switch {
	case isKnown && known.large:
		return &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Message: "the body of this " + method + " is too large: " + known.reason}
	case isKnown:
		reason = known.reason
	case isSyntax:
		reason = fmt.Sprintf("line %d is not well-formed", syntax.Line)
	case errors.Is(err, io.EOF):
		reason = "it ends within an element"
	case err != nil:
		return body.Error(err)
	}
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidBody, Message: "the body is not the XML that " + method + " takes: " + reason, Err: err}
}

// next returns the next token. It replaces the prefixes of names by namespaces, and removes
// namespace declarations.
func (x *reader) next() (xml.Token, error) {
	token, err := x.decoder.RawToken()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case xml.StartElement:
		return x.begin(token)
	case xml.EndElement:
		last := len(x.open) - 1
		if last < 0 || x.open[last].raw != token.Name {
			return nil, bad("an end tag does not match its start tag")
		}
		x.scope, x.open = x.scope[:x.open[last].bindings], x.open[:last]
		return token, nil
	}
	return token, nil
}

// begin resolves the names of a start tag.
func (x *reader) begin(start xml.StartElement) (xml.Token, error) {
	switch {
	case len(x.open) == maxDepth:
		return nil, tooMuch("its elements may be nested at most %d deep", maxDepth)
	case len(start.Attr) > maxAttributes:
		return nil, tooMuch("an element may have at most %d attributes", maxAttributes)
	}
	x.open = append(x.open, element{start.Name, len(x.scope)})
	attributes := start.Attr[:0]
	for _, a := range start.Attr {
		declares, prefix := a.Name.Space == "xmlns" || a.Name == xml.Name{Local: "xmlns"}, ""
		if !declares {
			attributes = append(attributes, a)
			continue
		}
		if a.Name.Space == "xmlns" {
			prefix = a.Name.Local
		}
		if err := x.bind(prefix, a.Value); err != nil {
			return nil, err
		}
	}
	var err error
	if start.Name, err = x.resolve(start.Name, true); err != nil {
		return nil, err
	}
	seen := make(map[xml.Name]bool, len(attributes))
	for n := range attributes {
		a := &attributes[n]
		if a.Name, err = x.resolve(a.Name, false); err != nil {
			return nil, err
		}
		if seen[a.Name] {
			return nil, bad("an element has an attribute twice")
		}
		seen[a.Name] = true
	}
	start.Attr = attributes
	return start, nil
}

// bind declares a prefix in the innermost open element.
func (x *reader) bind(prefix, space string) error {
	for _, b := range x.scope[x.open[len(x.open)-1].bindings:] {
		if b.prefix == prefix {
			return bad("an element declares a prefix twice")
		}
	}
	switch {
	case prefix == "xml" && space == xmlSpace:
		return nil
	case prefix == "xml", prefix == "xmlns", !isSpace(space):
		return bad("a namespace must be a URI of up to %d bytes without blanks, quotes, angle brackets and control characters, and not a reserved one", maxNamespace)
	case prefix != "" && (space == "" || !isName(prefix)):
		return bad("a prefix is not bound to a namespace")
	}
	x.scope = append(x.scope, binding{prefix, space})
	return nil
}

// resolve replaces the prefix of a name by its namespace.
func (x *reader) resolve(raw xml.Name, isElement bool) (xml.Name, error) {
	if !isName(raw.Local) {
		return raw, bad("a name must be an NCName of up to %d bytes", maxName)
	}
	if raw.Space == "xml" {
		if isElement {
			return raw, bad("no element has the prefix xml")
		}
		return xml.Name{Space: xmlSpace, Local: raw.Local}, nil
	}
	if raw.Space == "" && !isElement {
		return raw, nil
	}
	for n := len(x.scope) - 1; n >= 0; n-- {
		if x.scope[n].prefix == raw.Space {
			return xml.Name{Space: x.scope[n].space, Local: raw.Local}, nil
		}
	}
	if raw.Space != "" {
		return raw, bad("a prefix is not bound to a namespace")
	}
	return raw, nil
}

// children calls fn for each child of the current element, and returns after the element's end tag.
// fn must read to the end of the child.
func (x *reader) children(fn func(xml.StartElement) error) error {
	for {
		token, err := x.next()
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

// skip reads to the end of the current element.
func (x *reader) skip() error {
	return x.children(func(xml.StartElement) error { return x.skip() })
}

// inner returns the content of the current element, up to limit bytes. Each used namespace is
// declared in the result, so that the result can be part of any document.
func (x *reader) inner(what string, limit int) (string, error) {
	out := bounded{room: limit}
	for depth := 0; ; {
		token, err := x.next()
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
			out.text("</", token.Name.Local, ">")
		case xml.CharData:
			escape(&out, string(token))
		}
		if out.room < 0 {
			return "", tooMuch("%s may have up to %d bytes, including its namespaces", what, limit)
		}
	}
}

// bounded is a buffer that stops growing when it is full. room is then negative.
type bounded struct {
	bytes.Buffer
	room int
}

// Write implements io.Writer. It never fails.
func (b *bounded) Write(p []byte) (int, error) {
	if b.room >= 0 {
		if b.room -= len(p); b.room >= 0 {
			b.Buffer.Write(p)
		}
	}
	return len(p), nil
}

func (b *bounded) text(all ...string) {
	for _, s := range all {
		_, _ = io.WriteString(struct{ io.Writer }{b}, s) // not Buffer.WriteString, which has no bound
	}
}

// writeStart writes a start tag that declares its own namespaces.
func writeStart(out *bounded, start xml.StartElement) {
	out.text("<", start.Name.Local, ` xmlns="`)
	escape(out, start.Name.Space)
	out.text(`"`)
	for i, a := range start.Attr {
		switch {
		case a.Name.Space == "":
			out.text(" ", a.Name.Local)
		case a.Name.Space == xmlSpace:
			out.text(" xml:", a.Name.Local)
		default:
			prefix := fmt.Sprintf("n%d", i)
			out.text(" xmlns:", prefix, `="`)
			escape(out, a.Name.Space)
			out.text(`" `, prefix, ":", a.Name.Local)
		}
		out.text(`="`)
		escape(out, a.Value)
		out.text(`"`)
	}
	out.text(">")
}

// escape writes a string as the content of an element or attribute.
func escape(out io.Writer, text string) { _ = xml.EscapeText(out, []byte(text)) } // writing to a buffer does not fail

func escaped(text string) string {
	if !strings.ContainsFunc(text, special) && utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	escape(&out, text)
	return out.String()
}

// special reports whether a character must be escaped in XML, or cannot be part of it.
func special(c rune) bool {
	return c < ' ' || strings.ContainsRune("<>&\"'", c) || c == 0xFFFE || c == 0xFFFF
}

// isName reports whether a string is an NCName (Namespaces in XML 1.0) of bounded length.
func isName(text string) bool {
	for at, c := range text {
		if !nameStart(c) && (at == 0 || !nameMore(c)) {
			return false
		}
	}
	return text != "" && len(text) <= maxName && utf8.ValidString(text)
}

func nameStart(c rune) bool {
	return c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0xC0 && c <= 0x2FF && c != 0xD7 && c != 0xF7 ||
		c >= 0x370 && c <= 0x1FFF && c != 0x37E || c == 0x200C || c == 0x200D || c >= 0x2070 && c <= 0x218F ||
		c >= 0x2C00 && c <= 0x2FEF || c >= 0x3001 && c <= 0xD7FF || c >= 0xF900 && c <= 0xFDCF ||
		c >= 0xFDF0 && c <= 0xFFFD || c >= 0x10000 && c <= 0xEFFFF
}

func nameMore(c rune) bool {
	return c == '-' || c == '.' || c >= '0' && c <= '9' || c == 0xB7 || c >= 0x300 && c <= 0x36F || c == 0x203F || c == 0x2040
}

// isSpace reports whether a string can be a namespace; "" means no namespace.
func isSpace(text string) bool {
	return len(text) <= maxNamespace && utf8.ValidString(text) && text != xmlSpace && text != xmlnsSpace &&
		!strings.ContainsFunc(text, func(c rune) bool {
			return c <= ' ' || c >= 0x7f && c < 0xa0 || strings.ContainsRune("<>\"", c) || c == 0x2028 || c == 0x2029 || c == 0xFFFE || c == 0xFFFF
		})
}
