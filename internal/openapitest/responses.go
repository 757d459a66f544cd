package openapitest

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
)

// ValidateResponse validates the headers of a response and its body against a response of the
// document. The body is the decoded content. A response to HEAD has no body to validate.
func (n Node) ValidateResponse(r *http.Response, body []byte) error {
	if !n.Exists() {
		return fmt.Errorf("the document has no status %d", r.StatusCode)
	}
	if err := validateHeaders(n.Get("headers"), r.Header); err != nil {
		return err
	}
	content := n.Get("content")
	if len(content.Names()) == 0 || r.Request.Method == http.MethodHead {
		return nil
	}
	sent := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(sent)
	if !content.Get(media).Exists() {
		media = "*/*"
	}
	if !content.Get(media).Exists() {
		return fmt.Errorf("content type %q is not in the document (%v)", sent, err)
	}
	schema := content.Get(media, "schema")
	if !schema.Exists() {
		return nil
	}
	value, err := decodeBody(media, body)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// validateHeaders validates the headers that the document declares.
func validateHeaders(declared Node, sent http.Header) error {
	for _, name := range declared.Names() {
		header, values := declared.Get(name), sent.Values(name)
		var err error
		if len(values) == 0 && header.Get("required").Value() == true {
			err = errors.New("is required and missing")
		}
		for _, value := range values {
			err = errors.Join(err, validateText(header.Get("schema"), value))
		}
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	return nil
}
