package dav

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
)

const (
	namespace = "DAV:"
	maxOwner  = 2 << 10 // bytes of the owner of a lock
	maxValue  = 8 << 10 // bytes of the value of a property
)

// nameList collects the names of the properties in a request.
type nameList struct {
	names []xml.Name
	bytes int
}

// add adds a name to the list.
func (l *nameList) add(name xml.Name) error {
	l.names = append(l.names, name)
	if l.bytes += len(name.Local); len(l.names) > maxNames || l.bytes > maxAllNames {
		return tooMuch("it may name up to %d properties, with up to %d bytes of names in total", maxNames, maxAllNames)
	}
	return nil
}

// propfind is the content of a PROPFIND request.
type propfind struct {
	names bool       // only the names of all properties
	all   bool       // the properties that RFC 4918 defines, all dead ones, and props
	props []xml.Name // without duplicates
}

// shows reports whether the answer contains the value of a live property: it is requested by name,
// or all are requested.
func (f propfind) shows(property string) bool {
	return f.all || slices.Contains(f.props, xml.Name{Space: namespace, Local: property})
}

// readPropfind reads the body of a PROPFIND. An empty body requests all properties.
func readPropfind(w http.ResponseWriter, r *http.Request) (find propfind, err error) {
	x, root, err := open(w, r)
	switch {
	case errors.Is(err, io.EOF):
		return propfind{all: true}, nil
	case err != nil:
		return find, badXML(r.Method, err)
	case root.Name != xml.Name{Space: namespace, Local: "propfind"}:
		return find, badXML(r.Method, nil)
	}
	var list nameList
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
				if !slices.Contains(list.names, named.Name) {
					if err := list.add(named.Name); err != nil {
						return err
					}
				}
				return x.skip()
			})
		}
		return x.skip()
	})
	if find.props = list.names; err == nil && !find.all && !find.names && find.props == nil {
		err = bad("it requests no properties")
	}
	if err != nil {
		return find, badXML(r.Method, err)
	}
	return find, nil
}

// change is a change of one property.
type change struct {
	name      xml.Name
	remove    bool
	value     string // XML
	protected bool   // the service maintains the property itself
}

// readProppatch reads the body of a PROPPATCH. It returns the changes in document order.
func readProppatch(w http.ResponseWriter, r *http.Request) (changes []change, err error) {
	x, root, err := open(w, r)
	if err != nil || root.Name != (xml.Name{Space: namespace, Local: "propertyupdate"}) {
		return nil, badXML(r.Method, err)
	}
	var list nameList
	err = x.children(func(e xml.StartElement) error {
		remove := e.Name.Local == "remove"
		if e.Name.Space != namespace || !remove && e.Name.Local != "set" {
			return x.skip()
		}
		return x.children(func(prop xml.StartElement) error {
			return x.children(func(named xml.StartElement) error {
				if err := list.add(named.Name); err != nil {
					return err
				}
				value, err := x.inner("the value of a property", maxValue)
				changes = append(changes, change{name: named.Name, remove: remove, value: value})
				return err
			})
		})
	})
	if err == nil && changes == nil {
		err = bad("it changes nothing")
	}
	if err != nil {
		return nil, badXML(r.Method, err)
	}
	return changes, nil
}

// readLock reads the body of a LOCK. An empty body refreshes a lock.
func readLock(w http.ResponseWriter, r *http.Request) (l lock, refresh bool, err error) {
	x, root, err := open(w, r)
	if errors.Is(err, io.EOF) {
		return l, true, nil
	}
	if err != nil || root.Name != (xml.Name{Space: namespace, Local: "lockinfo"}) {
		return l, false, badXML(r.Method, err)
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
			l.owner, err = x.inner("the owner of a lock", maxOwner)
			return err
		}
		return x.skip()
	})
	if err == nil && (scope != "exclusive" && scope != "shared" || kind != "write") {
		err = bad("the lock is not an exclusive or shared write lock")
	}
	if err != nil {
		return l, false, badXML(r.Method, err)
	}
	l.shared = scope == "shared"
	return l, false, nil
}
