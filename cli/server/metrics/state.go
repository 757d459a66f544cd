package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"labshelf/bolt"
	"labshelf/repository/maintenance"
)

// Sources return the state of the service at each scrape. They are called from several goroutines.
type Sources struct {
	Metadata    func() (bolt.Stats, error)
	Condition   func(context.Context) maintenance.Condition
	Connections func() int // number of open connections
}

// Add adds the state of a service to the served metrics. It may be called only once.
func (m *Metrics) Add(sources Sources) {
	if m != nil {
		m.registry.MustRegister(newState(sources))
	}
}

// moment is the state of the service at one time.
type moment struct {
	connections int
	maintenance.Condition
	file bolt.Stats
}

// facts are the metrics of a moment. Those of the metadata file are omitted if its state is
// unknown.
func facts() []fact {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return []fact{
		{"http_connections", "Open connections of clients.", gauge, false, func(m *moment) float64 { return float64(m.connections) }},
		{"metadata_file_bytes", "Length of the metadata file.", gauge, true, func(m *moment) float64 { return float64(m.file.Bytes) }},
		{"metadata_free_pages", "Free pages of the metadata file.", gauge, true, func(m *moment) float64 { return float64(m.file.FreePages) }},
		{"metadata_free_bytes", "Bytes of the free pages.", gauge, true, func(m *moment) float64 { return float64(m.file.FreePages * m.file.PageSize) }},
		{"metadata_read_transactions", "Running read transactions.", gauge, true, func(m *moment) float64 { return float64(m.file.Reading) }},
		{"read_only", "1 if the service accepts no changes until it is restarted.", gauge, false, func(m *moment) float64 { return truth(m.Detail.ReadOnly != "") }},
		{"failing", "1 if records cannot be read either.", gauge, false, func(m *moment) float64 { return truth(m.Detail.Failing != "") }},
		{"clock_behind_seconds", "How far the clock is behind the last change.", gauge, false, func(m *moment) float64 { return m.Detail.ClockBehind.Seconds() }},
		{"held_files", "Bodies that are stored inline, with their records, and not flushed to files yet.", gauge, false, func(m *moment) float64 { return float64(m.Detail.Inline.Bodies) }},
		{"held_bytes", "Bytes of those bodies.", gauge, false, func(m *moment) float64 { return float64(m.Detail.Inline.Bytes) }},
		{"damaged_files", "Files known to be damaged or missing, counted up to 1,000.", gauge, false, func(m *moment) float64 { return float64(m.Detail.Damaged) }},
		{"background_failures", "Background tasks that are failing; the log has the names and reasons.", gauge, false, func(m *moment) float64 { return float64(len(m.Detail.Background)) }},
		{"scrub_passes_total", "How often all files have been read in the background, including earlier runs of the service.", counter, false, func(m *moment) float64 { return float64(m.Detail.Scrub.Passes) }},
	}
}

type fact struct {
	name, help string
	kind       prometheus.ValueType
	ofFile     bool
	value      func(*moment) float64
}

// state collects the metrics of the moment at each scrape.
type state struct {
	Sources
	facts []fact
	descs []*prometheus.Desc
}

func newState(sources Sources) *state {
	s := &state{Sources: sources, facts: facts()}
	for _, f := range s.facts {
		s.descs = append(s.descs, prometheus.NewDesc(prometheus.BuildFQName(namespace, "", f.name), f.help, nil, nil))
	}
	return s
}

// Describe implements [prometheus.Collector].
func (s *state) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range s.descs {
		out <- desc
	}
}

// Collect implements [prometheus.Collector].
func (s *state) Collect(out chan<- prometheus.Metric) {
	file, err := s.Metadata()
	now := &moment{connections: s.Connections(), Condition: s.Condition(context.Background()), file: file}
	for i, f := range s.facts {
		if !f.ofFile || err == nil {
			out <- prometheus.MustNewConstMetric(s.descs[i], f.kind, f.value(now))
		}
	}
}

// truth converts a boolean to a number.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
