package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/metadata/groupcommit"
	"labshelf/repository/maintenance"
)

// requests are the metrics of each request.
type requests struct {
	durations      *prometheus.HistogramVec
	overBudget     *prometheus.CounterVec
	received, sent prometheus.Counter
}

func newRequests() requests {
	return requests{
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "http_request_duration_seconds", Buckets: requestBuckets,
			Help: "Duration of requests, from the first line to the end of the response, including the time that the client takes; by route and class of status.",
		}, []string{"method", "route", "status"}),
		overBudget: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "http_over_budget_total",
			Help: "Requests rejected because the caller had used up its share; by route and exhausted resource.",
		}, []string{"method", "route", "resource"}),
		received: counter("http_received_bytes_total", "Bytes of the bodies of requests."),
		sent:     counter("http_sent_bytes_total", "Bytes of the bodies of responses."),
	}
}

func (r *requests) all() []prometheus.Collector {
	return []prometheus.Collector{r.durations, r.overBudget, r.received, r.sent}
}

func (r *requests) observe(o handlers.Observation) {
	r.durations.WithLabelValues(o.Method, o.Route, class(o.Status)).Observe(o.Took.Seconds())
	if o.OverBudget != "" {
		r.overBudget.WithLabelValues(o.Method, o.Route, o.OverBudget).Inc()
	}
	r.received.Add(float64(o.Received))
	r.sent.Add(float64(o.Sent))
}

// class returns the class of a status by its first digit: 4xx for 404, none if the connection was
// cut.
func class(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}

// commits are the metrics of each commit to the metadata.
type commits struct {
	operations, waited, work, took, synced prometheus.Histogram
	failures                               prometheus.Counter
}

func newCommits() commits {
	return commits{
		operations: histogram("commit_operations", "Operations that shared a commit.", batchBuckets),
		waited:     histogram("commit_wait_seconds", "Longest time that an operation of a commit waited in the queue.", diskBuckets),
		work:       histogram("commit_work_seconds", "Time for which the operations of a commit ran.", diskBuckets),
		took:       histogram("commit_duration_seconds", "Time for committing the changes of these operations.", diskBuckets),
		synced:     histogram("commit_sync_seconds", "Part of the time for committing in which pages were written and synced.", diskBuckets),
		failures:   counter("commit_failures_total", "Commits that failed."),
	}
}

func (c *commits) all() []prometheus.Collector {
	return []prometheus.Collector{c.operations, c.waited, c.work, c.took, c.synced, c.failures}
}

func (c *commits) observe(one groupcommit.Commit) {
	c.operations.Observe(float64(one.Operations))
	c.waited.Observe(one.Waited.Seconds())
	c.work.Observe(one.Work.Seconds())
	c.took.Observe(one.Took.Seconds())
	c.synced.Observe(one.Synced.Seconds())
	if one.Failed {
		c.failures.Inc()
	}
}

// purges are the metrics of each purge.
type purges struct {
	took         prometheus.Histogram
	failures     prometheus.Counter
	files, bytes *prometheus.CounterVec // by kind of removed object
}

func newPurges() purges {
	removed := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{"what"})
	}
	return purges{
		took:     histogram("purge_duration_seconds", "Purges, without dry runs.", purgeBuckets),
		failures: counter("purge_failures_total", "Purges that ended early."),
		files: removed("purge_removed_files_total", "Objects that purges removed: a resource became a tombstone, a version lost its file, a blob or orphan went to the "+
			"trash, trash was deleted."),
		bytes: removed("purge_removed_bytes_total", "Bytes of the removed objects."),
	}
}

func (p *purges) all() []prometheus.Collector {
	return []prometheus.Collector{p.took, p.failures, p.files, p.bytes}
}

func (p *purges) observe(removed maintenance.PurgeResult, took time.Duration, err error) {
	p.took.Observe(took.Seconds())
	if err != nil {
		p.failures.Inc()
	}
	for _, r := range []struct {
		what         string
		files, bytes int64
	}{
		{"resource", removed.Resources, removed.ResourceBytes}, {"version", removed.Versions, removed.VersionBytes}, {"blob", removed.Blobs, removed.BlobBytes},
		{"orphan", removed.Orphans, removed.OrphanBytes}, {"trash", removed.TrashFiles, removed.TrashBytes},
	} {
		p.files.WithLabelValues(r.what).Add(float64(r.files))
		p.bytes.WithLabelValues(r.what).Add(float64(r.bytes))
	}
}

// moves are the metrics of flushing inline bodies to files.
type moves struct {
	took                    prometheus.Histogram
	bodies, bytes, failures prometheus.Counter
}

func newMoves() moves {
	return moves{
		took:     histogram("move_duration_seconds", "Batches of inline bodies that were flushed to files, including pauses for uploads.", requestBuckets),
		bodies:   counter("moved_files_total", "Inline bodies that were flushed to files."),
		bytes:    counter("moved_bytes_total", "Bytes of those bodies."),
		failures: counter("move_failures_total", "Batches whose flush failed; it is repeated."),
	}
}

func (m *moves) all() []prometheus.Collector {
	return []prometheus.Collector{m.took, m.bodies, m.bytes, m.failures}
}

func (m *moves) observe(moved metadata.BodyCount, took time.Duration, err error) {
	m.took.Observe(took.Seconds())
	if err != nil {
		m.failures.Inc()
		return
	}
	m.bodies.Add(float64(moved.Bodies))
	m.bytes.Add(float64(moved.Bytes))
}

// scrubs are the metrics of reading all files in the background.
type scrubs struct{ files, bytes, damaged prometheus.Counter }

func newScrubs() scrubs {
	return scrubs{
		files:   counter("scrub_files_total", "Files read in the background to find damage."),
		bytes:   counter("scrub_bytes_total", "Bytes of those files."),
		damaged: counter("scrub_damaged_files_total", "Files read in the background that were damaged or missing."),
	}
}

func (s *scrubs) all() []prometheus.Collector {
	return []prometheus.Collector{s.files, s.bytes, s.damaged}
}

func (s *scrubs) observe(bytes int64, damaged bool) {
	s.files.Inc()
	s.bytes.Add(float64(bytes))
	if damaged {
		s.damaged.Inc()
	}
}
