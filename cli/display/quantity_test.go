package display

import (
	"testing"
	"time"
)

// TestFormatBytes: one KiB is 1,024 bytes. A number has the largest unit in which it is at least 1.
func TestFormatBytes(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		0: "0 B", 1: "1 B", 999: "999 B", 1000: "1000 B", 1023: "1023 B", 1024: "1.0 KiB", 10_000: "9.8 KiB", 10 << 10: "10 KiB",
		1_000_000: "977 KiB", 1<<20 - 1: "1.0 MiB", 3 << 19: "1.5 MiB", 1 << 30: "1.0 GiB", 10188: "9.9 KiB", 10189: "10 KiB", 999 << 10: "999 KiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := Bytes(bytes); got != want {
			t.Errorf("FormatBytes(%d) = %q, want %q", bytes, got, want)
		}
	}
}

// TestFormatDuration: each duration uses the units that people would use.
func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0s": "0 ms", "1234567ns": "1234 µs", "250ms": "250 ms", "1s": "1 s", "59.4s": "59 s", "59.7s": "1 min", "200s": "3 min 20 s", "59m59.6s": "1 h",
		"57h0m53s": "2 days 9 h", "5h10m": "5 h 10 min", "47h59m40s": "2 days", "292h": "12 days 4 h", "8760h": "1 year", "13140h": "1.5 years",
		"8759h59m": "1 year", "87599h59m58s": "10 years", "-90s": "-1 min 30 s",
	} {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := Duration(d); got != want {
			t.Errorf("FormatDuration(%s) = %q, want %q", text, got, want)
		}
	}
}
