package openapitest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ValidateRequest validates a request for the operation: its parameters in the path, the query and
// the headers, and its body. values are the values of the path parameters, as Find returns them.
// ValidateRequest does not read the body of the request. It ignores keys and unknown headers.
func (o *Operation) ValidateRequest(r *http.Request, values map[string]string, body []byte) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	all := slices.Concat(o.PathParameters, o.Parameters)
	for name := range query {
		if !slices.ContainsFunc(all, func(p Parameter) bool { return p.In == "query" && p.Name == name }) {
			return fmt.Errorf("query parameter %q is unknown", name)
		}
	}
	for _, p := range all {
		var sent []string
		switch p.In {
		case "path":
			if value, ok := values[p.Name]; ok {
				sent = []string{value}
			}
		case "query":
			sent = query[p.Name]
		case "header":
			sent = r.Header.Values(p.Name)
		default:
			return fmt.Errorf("parameter %q in %q is not supported", p.Name, p.In)
		}
		if err := p.validate(sent); err != nil {
			return fmt.Errorf("%s parameter %q: %w", p.In, p.Name, err)
		}
	}
	if err := validateBody(o.Get("requestBody"), r.Header.Get("Content-Type"), body); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	return nil
}

// validate validates the values that a request sends for a parameter.
func (p Parameter) validate(sent []string) error {
	if len(sent) == 0 {
		if p.Required {
			return errors.New("is required and missing")
		}
		return nil
	}
	if p.Schema.Get("type").Text() == "array" { // style: form, explode: true
		items := []any{}
		for _, text := range sent {
			item, err := decode(p.Schema.Get("items"), text)
			if err != nil {
				return err
			}
			items = append(items, item)
		}
		return p.Schema.Validate(items)
	}
	if len(sent) > 1 {
		return fmt.Errorf("must be sent once, got %d values", len(sent))
	}
	return validateText(p.Schema, sent[0])
}

// validateText validates the string value of a parameter or header against its schema.
func validateText(schema Node, text string) error {
	value, err := decode(schema, text)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// decode converts the string value of a parameter or header to the type in its schema.
func decode(schema Node, text string) (any, error) {
	switch schema.Get("type").Text() {
	case "integer":
		return strconv.ParseInt(text, 10, 64)
	case "boolean":
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("must be true or false, got %q", text)
		}
		return text == "true", nil
	}
	return text, nil
}

// validateBody validates the body of a request against a request body of the document.
func validateBody(of Node, contentType string, body []byte) error {
	switch {
	case len(body) == 0 && of.Get("required").Value() == true:
		return errors.New("is required and missing")
	case len(body) == 0:
		return nil
	case !of.Exists():
		return errors.New("the operation takes no body")
	}
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("content type %q: %w", contentType, err)
	}
	content := of.Get("content", media)
	if !content.Exists() {
		return fmt.Errorf("content type %q is not in the document", media)
	}
	schema := content.Get("schema")
	if !schema.Exists() {
		return nil
	}
	var value any
	if media == "multipart/form-data" {
		value, err = decodeForm(content, body, parameters["boundary"])
	} else {
		value, err = decodeBody(media, body)
	}
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// decodeForm returns a form as an object with the parts as strings, and validates the headers and
// the content types of the parts.
func decodeForm(content Node, body []byte, boundary string) (any, error) {
	form := map[string]any{}
	for reader := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return form, nil
		}
		if err != nil {
			return nil, err
		}
		name := part.FormName()
		if _, twice := form[name]; twice {
			return nil, fmt.Errorf("part %q must be sent once", name)
		}
		text, err := io.ReadAll(part)
		if err == nil {
			err = validateHeaders(content.Get("encoding", name, "headers"), http.Header(part.Header))
		}
		if err == nil {
			err = checkPartType(content.Get("schema", "properties", name), part.Header.Get("Content-Type"))
		}
		if err != nil {
			return nil, fmt.Errorf("part %q: %w", name, err)
		}
		form[name] = string(text)
	}
}

// checkPartType returns an error if a part, unless it is a file, has a content type other than
// text/plain and the media type in its schema.
func checkPartType(schema Node, contentType string) error {
	if contentType == "" || schema.Get("format").Text() == "binary" {
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err == nil && media != "text/plain" && media != schema.Get("contentMediaType").Text() {
		err = fmt.Errorf("content type %q is not in the document", media)
	}
	return err
}

// decodeBody returns the value of a JSON body, the values of the lines of a JSON Lines body, and
// any other body as a string. It returns an error for a malformed JSON or CSV body.
func decodeBody(media string, body []byte) (any, error) {
	switch {
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return jsonschema.UnmarshalJSON(bytes.NewReader(body))
	case media == "application/jsonl":
		return decodeLines(body)
	case media == "text/csv":
		_, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
		return string(body), err
	}
	return string(body), nil
}

// decodeLines returns the JSON values of the lines of a body.
func decodeLines(text []byte) (any, error) {
	values := []any{}
	for line := range bytes.Lines(text) {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err == nil && !bytes.HasSuffix(line, []byte("\n")) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		values = append(values, value)
	}
	return values, nil
}
