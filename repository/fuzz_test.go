package repository

import (
	"testing"

	"labshelf/metadata"
)

// FuzzParseID verifies that each id has one spelling: a parsed id is formatted as the same string.
func FuzzParseID(f *testing.F) {
	for _, seed := range []string{"", "01JD2Q0V7H3M8N4T5R6W7X8Y9Z", "01jd2q0v7h3m8n4t5r6w7x8y9z", "ZZZZZZZZZZZZZZZZZZZZZZZZZZ", "O1JD2Q0V7H3M8N4T5R6W7X8Y9Z", "me"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, ok := metadata.ParseID(text)
		if ok && id.String() != text {
			t.Fatalf("%q is parsed as %s", text, id)
		}
		if again, ok := metadata.ParseID(id.String()); !ok || again != id {
			t.Fatalf("%s is parsed as %s, %t", id, again, ok)
		}
	})
}
