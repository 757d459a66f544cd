package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"labshelf/auth/errs"
)

// FuzzParseObject tests that every accepted body decodes to the same object as with other decoders.
// Every refused body must have an error code for clients.
func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"name":"a","n":1e400,"deep":[[[{"x":null}]]]}`, `{"a":1,"a":2}`, `{"a":1} {}`, `[1]`, `null`, ``, `{"a":"\ud800"}`,
		`{"metadata":{"n":1e400,"x":null},"a":{"metadata":1}}`, `{"metadata":{"a":1,"a":2}}`, `{"metadata":null}`, `{"metadata":"\ud800"}`,
		`{"a":"\ud83d\ude00","\u0061":1}`, "{\"a\":\"\xff\"}", `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := parseObject(body)
		if err != nil {
			var refused *errs.Error
			if !errors.As(err, &refused) || refused.Code == "" || refused.Kind != errs.Invalid {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		if raw, ok := got["metadata"]; ok {
			inner := json.NewDecoder(bytes.NewReader(raw.(json.RawMessage)))
			inner.UseNumber()
			var value any
			if err := inner.Decode(&value); err != nil {
				t.Fatalf("%q: %v", body, err)
			}
			got["metadata"] = value
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		var want map[string]any
		if err := decoder.Decode(&want); err != nil || !reflect.DeepEqual(map[string]any(got), want) {
			t.Fatalf("%q: got %v, want %v, %v", body, got, want, err)
		}
	})
}

// TestPositions tests the positions in errors: they count the bytes of the body, from 0.
func TestPositions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":x}`:         "the body is not valid JSON at byte 5: ",
		"\ufeff{\"a\":x}": "the body is not valid JSON at byte 8: ",
		`{} x`:            "there is extra text after the JSON object, which ends before byte 2",
		` {} [1]`:         "there is extra text after the JSON object, which ends before byte 3",
		"\ufeff{}{}":      "there is extra text after the JSON object, which ends before byte 5",
	} {
		if _, err := parseObject([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// BenchmarkParseObject parses the body of a new set, and one with the longest description.
func BenchmarkParseObject(b *testing.B) {
	long, err := json.Marshal(map[string]any{"name": "runs", "description": strings.Repeat("words é ", 1024)})
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"usual": []byte(`{"name": "runs", "title": "Runs of May", "description": "Two lines\nof text.", "dataspaceId": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}`),
		"long":  long,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseObject(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
