package schemas

import (
	"context"
	_ "embed"
	"strings"
	"sync"
)

// metaschemaText is the metaschema of draft 2020-12: an array of its documents.
//
//go:embed metaschema/2020-12.json
var metaschemaText []byte

// metaschema is the only valid address in $schema.
const metaschema = "https://json-schema.org/draft/2020-12/schema"

// metaschemas are the documents of the metaschema by address. They are compiled at first use and
// do not change after that.
var metaschemas = sync.OnceValue(func() map[string]*document {
	text, err := decode(metaschemaText, limits{bytes: MaxSchema, what: "metaschema"})
	if err != nil {
		panic("metaschema: " + err.Error()) // the text is part of the program
	}
	all := map[string]*document{}
	c := &compiler{
		patterns: newPatternBudget(),
		others:   func(address string) (*document, error) { return all[address], nil },
	}
	list, _ := text.value.([]any)
	for _, v := range list {
		object, _ := v.(map[string]any)
		id, _ := object["$id"].(string)
		all[id] = newDocument(id, v, nil)
		if err := all[id].collect(v, "", nil); err != nil {
			panic("metaschema: " + err.Error())
		}
	}
	for _, d := range all {
		for pointer, v := range d.places {
			c.node(d, pointer, v)
		}
		d.sealed = true
	}
	if err := c.run(); err != nil {
		panic("metaschema: " + err.Error())
	}
	return all
})

// standard returns the path of an address below json-schema.org, or "".
func standard(address string) string {
	path, ok := strings.CutPrefix(address, "https://json-schema.org/")
	if !ok {
		path, ok = strings.CutPrefix(address, "http://json-schema.org/")
	}
	if !ok {
		return ""
	}
	if path == "schema" {
		return "draft/2020-12/schema"
	}
	return path
}

// otherDocument returns a document of the metaschema for references.
func otherDocument(address string) (*document, error) {
	path := standard(address)
	if d := metaschemas()["https://json-schema.org/"+path]; d != nil {
		return d, nil
	}
	if strings.HasPrefix(path, "draft-0") || strings.HasPrefix(path, "draft/2019-09/") {
		return nil, errDraft("")
	}
	return nil, outside(address)
}

// isSchema returns the problems of a value as a schema. The steps are not limited: they depend only
// on the size of the value, which is limited.
func isSchema(v any) []Problem {
	root := metaschemas()[metaschema].nodes[""]
	problems, _ := evaluate(context.Background(), root, v, unlimited)
	return problems
}
