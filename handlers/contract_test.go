package handlers_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// contract is the OpenAPI document, and what of it the tests have exercised.
type contract struct {
	doc *openapi3.T

	mu    sync.Mutex
	seen  map[string]map[int]bool // operation id, status
	known map[string]bool         // answers that have been validated
	leaks error                   // secrets in logs
}

// exchange is one request with its answer, both read to the end.
type exchange struct {
	request *http.Request
	sent    []byte
	good    bool // the request is meant to be good
	answer  *http.Response
	body    []byte
}

func loadContract() (*contract, error) {
	openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.FileBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/jsonl", decodeLines)
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	return &contract{doc: doc, seen: map[string]map[int]bool{}, known: map[string]bool{}}, doc.Validate(context.Background())
}

// decodeLines reads a JSON value from each line.
func decodeLines(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
	text, err := io.ReadAll(body)
	values := []any{}
	for line := range bytes.Lines(text) {
		var value any
		if err := json.Unmarshal(line, &value); err != nil || !bytes.HasSuffix(line, []byte("\n")) {
			return nil, fmt.Errorf("the line %q: %w", line, err)
		}
		values = append(values, value)
	}
	return values, err
}

// operations yields every operation of the document with its route.
func (c *contract) operations(yield func(*routers.Route) bool) {
	for path, item := range c.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if !yield(&routers.Route{Spec: c.doc, Path: path, PathItem: item, Method: method, Operation: operation}) {
				return
			}
		}
	}
}

// find returns the operation that a request is for, nil if there is none. HEAD is GET.
func (c *contract) find(method, path string) (*routers.Route, map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for route := range c.operations {
		if params, ok := match(route.Path, path); ok && route.Method == method {
			return route, params
		}
	}
	return nil, nil
}

// match fills the parameters of a path template.
func match(template, path string) (map[string]string, bool) {
	want, got := strings.Split(template, "/"), strings.Split(strings.TrimSuffix(path, "/"), "/")
	if len(want) != len(got) {
		return nil, false
	}
	params := map[string]string{}
	for i, segment := range want {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			params[strings.TrimSuffix(name, "}")] = got[i]
		} else if segment != got[i] {
			return nil, false
		}
	}
	return params, true
}

// check compares an exchange with the document and notes what it exercises.
func (c *contract) check(x exchange) error {
	if x.answer.Header.Get("Content-Encoding") == "gzip" && len(x.body) > 0 {
		unpacked, err := gzip.NewReader(bytes.NewReader(x.body))
		if err != nil {
			return err
		}
		if x.body, err = io.ReadAll(unpacked); err != nil {
			return err
		}
	}
	_, path, inside := strings.Cut(x.request.URL.Path, "/v1/") // with both slashes: the token of a link may begin with v1
	if !inside || strings.Trim(path, "/") == "" {
		return nil // the pages, which are no part of the interface
	}
	route, params := c.find(x.request.Method, "/"+path)
	if route == nil {
		return c.checkStray(x)
	}
	c.note(route.Operation.OperationID, x.answer.StatusCode)
	if leak := keyForm.Find(x.body); leak != nil && !slices.Contains([]string{"createUserKey", "getOpenAPIJSON", "getOpenAPIYAML"}, route.Operation.OperationID) {
		return fmt.Errorf("the answer shows %s", leak)
	}
	if testing.Short() {
		return nil // with the race detector this would take longer than everything else, and find nothing new
	}
	options := &openapi3filter.Options{
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, IncludeResponseStatus: true,
	}
	request := x.request.Clone(context.Background())
	request.Method, request.Body, request.GetBody = route.Method, io.NopCloser(bytes.NewReader(x.sent)), nil
	input := &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route, Options: options}
	if x.good {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return fmt.Errorf("the request does not match the document: %w", err)
		}
	}
	return c.once(route.Operation.OperationID, x, func() error { return checkAnswer(x, input) })
}

// once validates an answer, unless the operation has given the same one before, its date and request id apart: most answers of
// the tables of bad input are alike, and validating takes longer than all the rest.
func (c *contract) once(operation string, x exchange, validate func() error) error {
	header := x.answer.Header.Clone()
	id := header.Get("X-Request-Id")
	header["X-Request-Id"] = []string{fmt.Sprint(id != "")}
	header.Del("Date")
	key := fmt.Sprint(operation, x.request.Method, x.answer.StatusCode, header, "\n", strings.ReplaceAll(string(x.body), id, "id"))
	c.mu.Lock()
	known := c.known[key]
	c.mu.Unlock()
	if known {
		return nil
	}
	err := validate()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[key] = err == nil
	return err
}

// checkAnswer validates the answer. kin-openapi looks neither at answers to HEAD, which are those to GET without a body, nor
// at 304, so these are shown to it as something else.
func checkAnswer(x exchange, input *openapi3filter.RequestValidationInput) error {
	status, options := x.answer.StatusCode, *input.Options
	options.ExcludeResponseBody = x.request.Method == http.MethodHead
	if status == http.StatusNotModified {
		const stand = http.StatusOK
		operation := *input.Route.Operation
		operation.Responses = openapi3.NewResponses(openapi3.WithStatus(stand, operation.Responses.Status(status)))
		route := *input.Route
		route.Operation, status = &operation, stand
		input.Route = &route
	}
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: status, Header: x.answer.Header,
		Body: io.NopCloser(bytes.NewReader(x.body)), Options: &options,
	})
	if err != nil {
		return fmt.Errorf("the answer does not match the document: %w", err)
	}
	return nil
}

// checkStray validates the answer to a request that the document does not have: OPTIONS, or a problem.
func (c *contract) checkStray(x exchange) error {
	switch status := x.answer.StatusCode; {
	case x.request.Method == http.MethodOptions && status == http.StatusNoContent:
		return nil
	case status != http.StatusNotFound && status != http.StatusMethodNotAllowed && status != http.StatusBadRequest: // 400 to a key in a URL
		return fmt.Errorf("status %d of something that is not in the document", status)
	}
	anything, _ := c.find(http.MethodGet, "/status")
	operation := *anything.Operation
	operation.Responses = openapi3.NewResponses(openapi3.WithStatus(x.answer.StatusCode, operation.Responses.Default()))
	route := *anything
	route.Operation = &operation
	return checkAnswer(x, &openapi3filter.RequestValidationInput{Request: x.request, Route: &route, Options: &openapi3filter.Options{}})
}

// leaked notes a secret in a log.
func (c *contract) leaked(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaks = errors.Join(c.leaks, err)
}

func (c *contract) note(operation string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[operation] == nil {
		c.seen[operation] = map[int]bool{}
	}
	c.seen[operation][status] = true
}

// gaps lists what the document promises and no test has seen, and what was seen without a promise. The default answer stands
// for what any operation may meet: 408, 421, 429 and faults of the service.
func (c *contract) gaps() (gaps []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for route := range c.operations {
		id, responses := route.Operation.OperationID, route.Operation.Responses
		for code := range responses.Map() {
			if status, err := strconv.Atoi(code); err == nil && !c.seen[id][status] {
				gaps = append(gaps, fmt.Sprintf("%s: no test saw its %s", id, code))
			}
		}
		for status := range c.seen[id] {
			common := []int{http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooManyRequests}
			if responses.Status(status) == nil && status < 500 && !slices.Contains(common, status) {
				gaps = append(gaps, fmt.Sprintf("%s: answered %d, which the document does not list", id, status))
			}
		}
	}
	slices.Sort(gaps)
	return gaps
}

// operationIDs lists the operations of the document, sorted.
func (c *contract) operationIDs() []string {
	ids := map[string]bool{}
	for route := range c.operations {
		ids[cmp.Or(route.Operation.OperationID, route.Method+" "+route.Path)] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

// visit validates a value that stands in the document.
func visit(schema *openapi3.Schema, value any) error {
	return schema.VisitJSON(value, openapi3.EnableJSONSchema2020())
}
