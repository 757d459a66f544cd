package handlers_test

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documentSchemas are the schemas of the OpenAPI document, each compiled at its first use.
// kin-openapi compiles a schema again for each value, which took most of the time of all tests.
type documentSchemas struct {
	document any

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by pointer
}

const documentURL = "https://labshelf.test/openapi.json"

func loadDocumentSchemas() (*documentSchemas, error) {
	text, err := os.Open("openapi.json")
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(text)
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseRegexpEngine(compilePattern)
	d := &documentSchemas{document: document, compiler: compiler, compiled: map[string]*jsonschema.Schema{}}
	return d, compiler.AddResource(documentURL, document)
}

// codePoint is how a pattern of ECMAScript names a character.
var codePoint = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// compilePattern compiles a pattern of the document, which is one of ECMAScript.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	return regexp.Compile(codePoint.ReplaceAllString(pattern, `\x{$1}`))
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer joins names to a JSON pointer.
func pointer(names ...string) (p string) {
	for _, name := range names {
		p += "/" + pointerEscapes.Replace(name)
	}
	return p
}

// at returns the object at a pointer, with the pointer of what it refers to; nil if there is none.
func (d *documentSchemas) at(pointer string) (object map[string]any, where string) {
	object, _ = d.document.(map[string]any)
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		object, _ = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)].(map[string]any)
	}
	if other, ok := object["$ref"].(string); ok {
		return d.at(strings.TrimPrefix(other, "#"))
	}
	return object, pointer
}

// validate validates a value against the schema at a pointer. Anything is valid without a schema.
func (d *documentSchemas) validate(pointer string, value any) error {
	if object, _ := d.at(pointer); object == nil {
		return nil
	}
	d.mu.Lock()
	schema := d.compiled[pointer]
	if schema == nil {
		var err error
		if schema, err = d.compiler.Compile(documentURL + "#" + pointer); err != nil {
			d.mu.Unlock()
			return err
		}
		d.compiled[pointer] = schema
	}
	d.mu.Unlock()
	return schema.Validate(value)
}

// checkResponse validates an answer against the response at a pointer: its headers, and its body
// unless it answers HEAD.
func (d *documentSchemas) checkResponse(where string, x exchange) error {
	response, where := d.at(where)
	if response == nil {
		return fmt.Errorf("the document has no status %d", x.answer.StatusCode)
	}
	headers, _ := response["headers"].(map[string]any)
	for name := range headers {
		if err := d.checkHeader(where+pointer("headers", name), x.answer.Header.Values(name)); err != nil {
			return fmt.Errorf("the header %s: %w", name, err)
		}
	}
	content, _ := response["content"].(map[string]any)
	if len(content) == 0 || x.request.Method == http.MethodHead {
		return nil
	}
	sent := x.answer.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(sent)
	if content[media] == nil {
		media = "*/*"
	}
	if content[media] == nil {
		return fmt.Errorf("the document has no %q (%v)", sent, err)
	}
	value, err := decodeBody(media, x.body)
	if err != nil {
		return err
	}
	return d.validate(where+pointer("content", media, "schema"), value)
}

// checkHeader validates the values of a header.
func (d *documentSchemas) checkHeader(where string, values []string) error {
	header, where := d.at(where)
	if required, _ := header["required"].(bool); len(values) == 0 && required {
		return fmt.Errorf("is missing")
	}
	schema, _ := d.at(where + "/schema")
	for _, value := range values {
		var decoded any = value
		if schema["type"] == "integer" {
			number, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			decoded = number
		}
		if err := d.validate(where+"/schema", decoded); err != nil {
			return err
		}
	}
	return nil
}

// decodeBody decodes JSON; the value of any other body is its text.
func decodeBody(media string, body []byte) (any, error) {
	switch {
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return jsonschema.UnmarshalJSON(bytes.NewReader(body))
	case media == "application/jsonl":
		return decodeLines(bytes.NewReader(body))
	}
	return string(body), nil
}

// decodeLines reads a JSON value from each line.
func decodeLines(body io.Reader) (any, error) {
	text, err := io.ReadAll(body)
	values := []any{}
	for line := range bytes.Lines(text) {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil || !bytes.HasSuffix(line, []byte("\n")) {
			return nil, fmt.Errorf("the line %q: %w", line, err)
		}
		values = append(values, value)
	}
	return values, err
}
