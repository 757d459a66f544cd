package wire

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"
)

// TestTimeEncoding compares AppendTime with package time.
func TestTimeEncoding(t *testing.T) {
	t.Parallel()
	times := []time.Time{time.UnixMilli(-1), time.UnixMilli(0), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)}
	for range 10_000 {
		times = append(times, time.UnixMicro(rand.Int64N(1<<56)-1<<55))
	}
	for _, at := range times {
		at = at.UTC()
		if got, want := string(AppendTime(nil, at)), at.Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Fatalf("%v is %s, want %s", at, got, want)
		}
	}
}

// TestTimeInJSON tests that an instant of any time zone survives encoding, that the zero Time is
// "", and that decoding ignores an Epoch.
func TestTimeInJSON(t *testing.T) {
	t.Parallel()
	type object struct {
		At    Time  `json:"at"`
		Epoch Epoch `json:"epoch,omitzero"`
		Never Time  `json:"never"`
		Left  Time  `json:"left,omitzero"`
	}
	east := time.Date(2026, 3, 1, 1, 0, 0, 120e6, time.FixedZone("", 3600))
	text, err := json.Marshal(object{At: Time{east}, Epoch: Epoch(east.UnixMilli())})
	if want := `{"at":"2026-03-01T00:00:00.120Z","epoch":1772323200120,"never":""}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	var got object
	if err := json.Unmarshal(text, &got); err != nil || !got.At.Equal(east) || got.Epoch != 0 || !got.Never.IsZero() {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"at":"yesterday"}`), &got); err == nil {
		t.Error("a word is decoded as an instant")
	}
}

// TestMetadataInJSON tests that numbers keep their spelling.
func TestMetadataInJSON(t *testing.T) {
	t.Parallel()
	var set Set
	if err := json.Unmarshal([]byte(`{"metadata": {"n": 2.50e1}}`), &set); err != nil || set.Metadata != `{"n":2.50e1}` {
		t.Errorf("got %s, %v", set.Metadata, err)
	}
}
