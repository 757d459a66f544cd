package meter

import (
	"math"
	"time"
)

// The kinds of work, as indexes of work.
const (
	filesDone     = iota // finished files
	bytesMoved           // bytes sent or received
	bytesCompared        // bytes read on this machine only
	workKinds
)

// work is an amount of each kind of work.
type work [workKinds]float64

const (
	// estimateMemory is the time constant of the exponential average.
	estimateMemory = 20 * time.Second
	// longestObserved bounds the part of a pause that counts as work: a service that does not
	// answer says nothing about the remaining work.
	longestObserved = 5 * time.Second
)

// firstCosts are the relative costs of each kind before any was observed. A file costs as much as
// 256 KiB of its bytes. Reading a byte here costs a quarter of moving it.
var firstCosts = work{256 << 10, 1, 0.25}

// estimate learns the cost of a file and of a byte separately, so that one estimate covers many
// small files and a few large ones. It is not safe for concurrent use.
type estimate struct {
	last    time.Time // of the last observation that contained work
	seen    work      // all work until then
	amounts work      // exponential average
	seconds work      // that the amounts took
}

// observe learns from the totals of all work so far. Totals may shrink.
func (e *estimate) observe(now time.Time, done work) {
	if e.last.IsZero() {
		e.last, e.seen = now, done
		return
	}
	var more work
	any := false
	for i := range more {
		more[i] = max(0, done[i]-e.seen[i])
		any = any || more[i] > 0
	}
	if !any {
		e.seen = done
		return
	}
	took := min(now.Sub(e.last), longestObserved).Seconds()
	e.last, e.seen = now, done
	// The time is divided in proportion to the costs known so far. A kind without work keeps its
	// cost.
	var shares work
	sum := 0.0
	for i := range shares {
		shares[i] = more[i] * e.cost(i)
		sum += shares[i]
	}
	for i := range shares {
		part := took * shares[i] / sum
		keep := math.Exp(-part / estimateMemory.Seconds())
		e.amounts[i], e.seconds[i] = e.amounts[i]*keep+more[i], e.seconds[i]*keep+part
	}
}

// cost is the time for one unit of a kind, in seconds. If the kind was never observed, it is
// derived from the others.
func (e *estimate) cost(kind int) float64 {
	if e.amounts[kind] > 0 {
		return e.seconds[kind] / e.amounts[kind]
	}
	amount, seconds := 0.0, 0.0
	for i := range e.amounts {
		amount += e.amounts[i] * firstCosts[i]
		seconds += e.seconds[i]
	}
	if amount == 0 {
		return firstCosts[kind]
	}
	return firstCosts[kind] * seconds / amount
}

// left estimates the time for the remaining files and bytes. It returns false if nothing was
// observed yet.
func (e *estimate) left(files, bytes int64) (time.Duration, bool) {
	if e.amounts == (work{}) {
		return 0, false
	}
	byteCost := e.cost(bytesMoved)
	if e.amounts[bytesMoved] == 0 && e.amounts[bytesCompared] > 0 {
		byteCost = e.cost(bytesCompared)
	}
	seconds := float64(max(0, files))*e.cost(filesDone) + float64(max(0, bytes))*byteCost
	return time.Duration(min(seconds, math.MaxInt64/1e10) * float64(time.Second)), true
}

// rateWindow is the time over which a rate is measured.
const rateWindow = 5 * time.Second

// rate measures recent bytes per second. It is not safe for concurrent use.
type rate struct{ samples []sample }

// sample is a total of bytes at one time.
type sample struct {
	at    time.Time
	bytes int64
}

// observe adds a sample, and removes those older than rateWindow.
func (r *rate) observe(now time.Time, bytes int64) {
	for len(r.samples) > 1 && now.Sub(r.samples[1].at) >= rateWindow {
		r.samples = r.samples[1:]
	}
	r.samples = append(r.samples, sample{now, bytes})
}

// perSecond returns the rate in bytes. It is 0 if no bytes moved, or if there are too few samples.
func (r *rate) perSecond() int64 {
	if len(r.samples) < 2 {
		return 0
	}
	first, last := r.samples[0], r.samples[len(r.samples)-1]
	took := last.at.Sub(first.at).Seconds()
	if took < meterStep.Seconds() {
		return 0
	}
	return int64(float64(last.bytes-first.bytes) / took)
}
