package openapitest

import (
	"net/http"
	"path"
	"slices"
	"strings"
)

// Operation is an operation of a document.
type Operation struct {
	Node
	ID, Method     string
	Path           string      // the path template
	PathParameters []Parameter // shared by the operations of the path
	Parameters     []Parameter // of this operation only
}

// Parameter is a parameter of an operation or a path.
type Parameter struct {
	Name, In  string
	Required  bool
	Component string // its name among the components, or "" if the parameter is not a reference
	Schema    Node
}

var methods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost, http.MethodPut, http.MethodTrace,
}

func (d *Document) operations() (all []*Operation) {
	paths := d.Get("paths")
	for _, template := range paths.Names() {
		item := paths.Get(template)
		shared := parameters(item)
		for _, method := range methods {
			node := item.Get(strings.ToLower(method))
			if !node.Exists() {
				continue
			}
			all = append(all, &Operation{
				Node: node, ID: node.Get("operationId").Text(), Method: method, Path: template,
				PathParameters: shared, Parameters: parameters(node),
			})
		}
	}
	return all
}

// parameters returns the parameters that a path or an operation declares.
func parameters(of Node) (all []Parameter) {
	for _, node := range of.Get("parameters").Items() {
		p := Parameter{
			Name: node.Get("name").Text(), In: node.Get("in").Text(), Required: node.Get("required").Value() == true, Schema: node.Get("schema"),
		}
		if target := node.reference(); target != "" {
			p.Component = path.Base(target)
		}
		all = append(all, p)
	}
	return all
}

// Operation returns the operation with an id, or nil if the document has no such operation.
func (d *Document) Operation(id string) *Operation {
	i := slices.IndexFunc(d.Operations, func(o *Operation) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	return d.Operations[i]
}

// Find returns the operation for a request, with the values of its path parameters. It returns nil
// if the document has no such operation. HEAD finds the operation of GET. The path is relative to
// the server's URL and may end with a slash.
func (d *Document) Find(method, path string) (*Operation, map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, o := range d.Operations {
		if o.Method != method {
			continue
		}
		if values, ok := match(o.Path, path); ok {
			return o, values
		}
	}
	return nil, nil
}

// match returns the values of the parameters in a path template.
func match(template, path string) (map[string]string, bool) {
	want, got := strings.Split(template, "/"), strings.Split(strings.TrimSuffix(path, "/"), "/")
	if len(want) != len(got) {
		return nil, false
	}
	values := map[string]string{}
	for i, segment := range want {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			values[strings.TrimSuffix(name, "}")] = got[i]
		} else if segment != got[i] {
			return nil, false
		}
	}
	return values, true
}

// Response returns the response for a status, or the default response.
func (o *Operation) Response(status string) Node {
	if response := o.Get("responses", status); response.Exists() {
		return response
	}
	return o.Get("responses", "default")
}
