package get

import (
	"errors"
	"io"
	"strings"
	"testing"

	"labshelf/cli/exit"
	"labshelf/client"
)

func TestOnlyTextForTerminals(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"": true, "text": true, strings.Repeat("long\n", sniffed): true, "a\x00b": false, strings.Repeat("a", sniffed-1) + "\x00": false,
	} {
		reader, err := textOf(strings.NewReader(text), client.Resource{ID: "01X", Name: "x"})
		if !good {
			if !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), "labshelf cat 01X > FILE") {
				t.Errorf("%d bytes: %v", len(text), err)
			}
			continue
		}
		if got, wrong := io.ReadAll(reader); err != nil || wrong != nil || string(got) != text {
			t.Errorf("%d bytes: %d written, %v, %v", len(text), len(got), err, wrong)
		}
	}
}
