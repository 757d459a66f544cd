package handlers

import (
	_ "embed"
	"net/http"

	"labshelf/handlers/internal/exchange"
)

//go:embed openapi.json
var openapiJSON []byte

//go:embed openapi.yaml
var openapiYAML []byte

// serveDocument serves the OpenAPI description.
func serveDocument(contentType string, document []byte) exchange.Handler {
	return func(w http.ResponseWriter, _ *exchange.Request) error {
		exchange.Write(w, http.StatusOK, contentType, document)
		return nil
	}
}

const welcome = `labshelf, a research data repository.

pages        / (sign in with a key)
interface    /v1 (every request except these requires a key in the Authorization header)
description  /v1/openapi.yaml, /v1/openapi.json
status       /v1/status
`

// serveWelcome answers requests for the root of the API with a short text.
func serveWelcome(w http.ResponseWriter, _ *exchange.Request) error {
	exchange.Write(w, http.StatusOK, "text/plain; charset=utf-8", []byte(welcome))
	return nil
}
