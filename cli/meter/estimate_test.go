package meter

import (
	"testing"
	"time"
)

// TestEstimate: the costs of files and of bytes are estimated separately. While only one kind of
// work runs, the other cost does not change.
func TestEstimate(t *testing.T) {
	t.Parallel()
	const small, manySmall, large = 4 << 10, 20_000, 4 << 30
	var e estimate
	var done work
	now := time.Now()
	if _, known := e.left(1, 1); known {
		t.Error("an estimate exists without any work")
	}
	e.observe(now, done)
	run := func(seconds int, files, bytes float64) {
		for range 5 * seconds {
			now = now.Add(200 * time.Millisecond)
			done[filesDone] += files / 5
			done[bytesMoved] += bytes / 5
			e.observe(now, done)
		}
	}
	within := func(what string, files, bytes int64, least, most time.Duration) {
		t.Helper()
		if left, known := e.left(files, bytes); !known || left < least || left > most {
			t.Errorf("%s: %v left, want %v to %v", what, left, least, most)
		}
	}
	// After 1,000 small files per second, one large file remains. An estimate by bytes alone would
	// be 20 minutes.
	run(10, 1000, 1000*small)
	within("small files first", manySmall-10_000, large, 9*time.Second, time.Minute)
	// The large file moves at 10 MiB/s. The remaining small files keep their earlier cost.
	run(60, 0, 10<<20)
	within("a large file under way", 0, 1<<30, 90*time.Second, 115*time.Second)
	within("small files after it", 10_000, 10_000*small, 9*time.Second, 20*time.Second)
	// A pause hardly affects the estimate.
	now = now.Add(10 * time.Minute)
	run(1, 0, 10<<20)
	within("after a pause", 0, 1<<30, 90*time.Second, 150*time.Second)
}

// TestEstimateOfReading: while files are only compared, the estimate uses the cost of comparing.
// After the first transferred bytes, it uses the cost of transferring.
func TestEstimateOfReading(t *testing.T) {
	t.Parallel()
	var e estimate
	now := time.Now()
	e.observe(now, work{})
	e.observe(now.Add(time.Second), work{bytesCompared: 500 << 20})
	if left, known := e.left(0, 5000<<20); !known || left != 10*time.Second {
		t.Errorf("%v left", left)
	}
	e.observe(now.Add(6*time.Second), work{bytesCompared: 500 << 20, bytesMoved: 50 << 20})
	if left, _ := e.left(0, 5000<<20); left < 8*time.Minute || left > 9*time.Minute {
		t.Errorf("%v left", left)
	}
}

// TestRate: the rate covers the last seconds.
func TestRate(t *testing.T) {
	t.Parallel()
	var r rate
	now, sum := time.Now(), int64(0)
	for i := range 100 {
		if i > 50 {
			sum += 100
		}
		r.observe(now, sum)
		now = now.Add(200 * time.Millisecond)
	}
	if got := r.perSecond(); got != 500 || len(r.samples) > 30 {
		t.Errorf("%d per second, from %d samples", got, len(r.samples))
	}
}
