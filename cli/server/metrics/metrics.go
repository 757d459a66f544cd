// Package metrics measures a service for Prometheus. It is the only package that imports
// Prometheus. The other packages have plain hooks, which cost nothing if they are not set:
// Options.Observe of an engine is called for each commit, handlers.Config.Observe for each request,
// repository.Config.Observer for background work. A decorator of directory.FS sees each call to the
// disk.
//
// Names and labels follow promtool's rules. The values of a label are words from the source of the
// program, so their number is limited. They never contain text of a client or an operator.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/metadata/groupcommit"
	"labshelf/repository"
)

const namespace = "labshelf"

// Upper bounds of buckets, in seconds except for the last.
var (
	// From a quick request for the status to the upload of a large file.
	requestBuckets = []float64{.0002, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60}
	// From a quick rename to the slow calls of a failing disk.
	diskBuckets = []float64{.00002, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5}
	// From an empty purge to a whole night.
	purgeBuckets = []float64{.1, 1, 10, 60, 600, 3600, 6 * 3600}
	// Up to the largest number of operations in a commit.
	batchBuckets = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
)

// Metrics are the measurements of one service. A nil *Metrics measures nothing, and all its hooks
// are nil. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	requests requests
	commits  commits
	calls    *prometheus.HistogramVec // of the file system, by call
	purges   purges
	moves    moves
	scrubs   scrubs
}

// New returns empty metrics for a program of this version.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), requests: newRequests(), commits: newCommits(), purges: newPurges(), moves: newMoves(), scrubs: newScrubs(),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "blob_call_duration_seconds", Buckets: diskBuckets,
			Help: "Duration of file system calls for files, by call; write includes all writes to one file.",
		}, []string{"call"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "Always 1, with the version of the program.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(build, m.calls, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.requests.all()...)
	m.registry.MustRegister(m.commits.all()...)
	m.registry.MustRegister(m.purges.all()...)
	m.registry.MustRegister(m.moves.all()...)
	m.registry.MustRegister(m.scrubs.all()...)
	return m
}

// Handler serves the metrics in the text format of Prometheus. It omits metrics that cannot be
// read.
func (m *Metrics) Handler() http.Handler {
	if m == nil {
		return nil
	}
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, DisableCompression: true})
}

// Requests returns the hook for handlers.Config.
func (m *Metrics) Requests() func(handlers.Observation) {
	if m == nil {
		return nil
	}
	return m.requests.observe
}

// Commits returns the hook for the options of an engine.
func (m *Metrics) Commits() func(groupcommit.Commit) {
	if m == nil {
		return nil
	}
	return m.commits.observe
}

// Background returns the hook for repository.Config.
func (m *Metrics) Background() (w repository.Observer) {
	if m != nil {
		w = repository.Observer{Purged: m.purges.observe, Scrubbed: m.scrubs.observe, Flushed: m.moves.observe}
	}
	return w
}

// Disk wraps a file system, and measures its calls.
func (m *Metrics) Disk(fs directory.FS) directory.FS {
	if m == nil {
		return fs
	}
	return newDisk(fs, m.calls)
}

// histogram returns a histogram without labels.
func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
}

// counter returns a counter without labels.
func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
}

// since observes the time since began.
func since(in prometheus.Observer, began time.Time) { in.Observe(time.Since(began).Seconds()) }
