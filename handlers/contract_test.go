package handlers_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"labshelf/internal/openapitest"
)

// contract is the OpenAPI document, and the parts that the tests have exercised.
type contract struct {
	document *openapitest.Document

	mu    sync.Mutex
	seen  map[string]map[int]bool // operation id, status
	known map[string]bool         // answers that have been validated
	leaks error                   // secrets in logs
}

// exchange is a request with its answer, both read completely.
type exchange struct {
	request *http.Request
	sent    []byte
	good    bool // the request should be valid
	answer  *http.Response
	body    []byte
}

func loadContract() (*contract, error) {
	document, err := openapitest.Load("openapi.json")
	return &contract{document: document, seen: map[string]map[int]bool{}, known: map[string]bool{}}, err
}

// check compares an exchange with the document and records the parts that it exercises.
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
	_, path, inside := strings.Cut(x.request.URL.Path, "/v1/") // with both slashes, because the token of a link may begin with v1
	if !inside || strings.Trim(path, "/") == "" {
		return nil // pages are not part of the HTTP API
	}
	operation, params := c.document.Find(x.request.Method, "/"+path)
	if operation == nil {
		return c.checkStray(x)
	}
	c.note(operation.ID, x.answer.StatusCode)
	if leak := keyForm.Find(x.body); leak != nil && !slices.Contains([]string{"createUserKey", "getOpenAPIJSON", "getOpenAPIYAML"}, operation.ID) {
		return fmt.Errorf("the answer shows %s", leak)
	}
	if testing.Short() {
		return nil // too slow with the race detector, which finds nothing new here
	}
	if x.good {
		if err := operation.ValidateRequest(x.request, params, x.sent); err != nil {
			return fmt.Errorf("the request does not match the document: %w", err)
		}
	}
	response := operation.Response(strconv.Itoa(x.answer.StatusCode))
	return c.once(operation.ID, x, func() error { return checkAnswer(x, response) })
}

// once validates an answer, unless the operation has already given the same one, apart from its
// date and request id. Most answers to bad input are alike, and validating takes longer than
// everything else.
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

// checkAnswer validates an answer against a response in the document.
func checkAnswer(x exchange, response openapitest.Node) error {
	if err := response.ValidateResponse(x.answer, x.body); err != nil {
		return fmt.Errorf("the answer does not match the document: %w", err)
	}
	return nil
}

// checkStray validates the answer to a request that the document does not contain: an answer to
// OPTIONS, or a problem.
func (c *contract) checkStray(x exchange) error {
	switch status := x.answer.StatusCode; {
	case x.request.Method == http.MethodOptions && status == http.StatusNoContent:
		return nil
	case status != http.StatusNotFound && status != http.StatusMethodNotAllowed && status != http.StatusBadRequest: // 400 for a key in a URL
		return fmt.Errorf("status %d for a request that the document does not contain", status)
	}
	return checkAnswer(x, c.document.Get("components", "responses", "Problem"))
}

// leaked records a secret in a log.
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

// gaps lists the promises of the document that no test has seen, and the answers that the document
// does not promise. The default response covers errors that any operation may return: 408, 421, 429
// and faults of the service.
func (c *contract) gaps() (gaps []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, operation := range c.document.Operations {
		id, listed := operation.ID, operation.Get("responses").Names()
		for _, code := range listed {
			if status, err := strconv.Atoi(code); err == nil && !c.seen[id][status] {
				gaps = append(gaps, fmt.Sprintf("%s: no test saw its %s", id, code))
			}
		}
		for status := range c.seen[id] {
			common := []int{http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooManyRequests}
			if !slices.Contains(listed, strconv.Itoa(status)) && status < 500 && !slices.Contains(common, status) {
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
	for _, operation := range c.document.Operations {
		ids[cmp.Or(operation.ID, operation.Method+" "+operation.Path)] = true
	}
	return slices.Sorted(maps.Keys(ids))
}
