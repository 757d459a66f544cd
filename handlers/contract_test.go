package handlers_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
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
	doc     *openapi3.T
	schemas *documentSchemas

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
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	schemas, err := loadDocumentSchemas()
	if err != nil {
		return nil, err
	}
	return &contract{doc: doc, schemas: schemas, seen: map[string]map[int]bool{}, known: map[string]bool{}}, doc.Validate(context.Background())
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
	if x.good {
		if err := c.checkRequest(x, route, params); err != nil {
			return fmt.Errorf("the request does not match the document: %w", err)
		}
	}
	responses := pointer("paths", route.Path, strings.ToLower(route.Method), "responses")
	response := responses + pointer(strconv.Itoa(x.answer.StatusCode))
	if object, _ := c.schemas.at(response); object == nil {
		response = responses + "/default"
	}
	return c.once(route.Operation.OperationID, x, func() error { return c.checkAnswer(x, response) })
}

// checkRequest validates a request that is meant to be good.
func (c *contract) checkRequest(x exchange, route *routers.Route, params map[string]string) error {
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true}
	media, _, _ := mime.ParseMediaType(x.request.Header.Get("Content-Type"))
	if media == "application/json" && len(x.sent) > 0 {
		options.ExcludeRequestBody = true
		value, err := decodeBody(media, x.sent)
		if err == nil {
			where := pointer("paths", route.Path, strings.ToLower(route.Method), "requestBody")
			_, where = c.schemas.at(where)
			err = c.schemas.validate(where+pointer("content", media, "schema"), value)
		}
		if err != nil {
			return err
		}
	}
	request := x.request.Clone(context.Background())
	request.Method, request.Body, request.GetBody = route.Method, io.NopCloser(bytes.NewReader(x.sent)), nil
	return openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
		Request: request, PathParams: params, Route: route, Options: options,
	})
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

// checkAnswer validates an answer against the response at a pointer.
func (c *contract) checkAnswer(x exchange, response string) error {
	if err := c.schemas.checkResponse(response, x); err != nil {
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
	return c.checkAnswer(x, pointer("components", "responses", "Problem"))
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
