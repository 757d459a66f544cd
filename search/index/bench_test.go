package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "labshelf/internal/testhome"
	"labshelf/search"
	"labshelf/search/query"
)

// lab generates documents that resemble the documents of laboratories.
type lab struct {
	random     *rand.Rand
	dataspaces [][16]byte
	n          int
}

func newLab(dataspaces int) *lab {
	l := &lab{random: rand.New(rand.NewPCG(7, 7))}
	for i := range dataspaces {
		var id [16]byte
		binary.BigEndian.PutUint64(id[:], uint64(i+1)<<20)
		binary.BigEndian.PutUint64(id[8:], l.random.Uint64())
		l.dataspaces = append(l.dataspaces, id)
	}
	return l
}

var (
	quantities = strings.Fields("temperature pressure voltage current spectrum humidity image trace log calibration raw flux dose mass yield phase")
	extensions = strings.Fields("csv csv csv tiff json txt h5 png")
	prose      = strings.Fields(`the of and measured after before annealing sample cooled heated under vacuum argon nitrogen reference second
		first run with without filter laser pulse beam detector channel background corrected averaged repeated control series batch`)
	people = strings.Fields("Curie Meitner Noether Franklin Hopper Lovelace Hodgkin Wu Goeppert Ayrton")
)

func (l *lab) pick(from []string) string { return from[l.random.IntN(len(from))] }

// document returns the next resource, of any dataspace.
func (l *lab) document() search.Document {
	l.n++
	space := l.random.IntN(len(l.dataspaces))
	stamp := uint64(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()) + uint64(l.n)*30e6
	d := search.Document{
		Kind: search.Resource, Dataspace: l.dataspaces[space], Stamp: stamp, Created: stamp, Size: l.random.Int64N(1 << 26),
		Uploader: fmt.Sprintf("user%02d", l.random.IntN(40)),
	}
	d.Set = d.Dataspace
	d.Set[15] = byte(l.random.IntN(20))
	binary.BigEndian.PutUint64(d.ID[:], stamp<<4)
	binary.BigEndian.PutUint64(d.ID[8:], l.random.Uint64())
	ext := l.pick(extensions)
	day := time.UnixMicro(int64(stamp)).UTC().Format(time.DateOnly)
	d.Name = fmt.Sprintf("%s_run%d_sample-%c%03d_%s.%s", day, l.random.IntN(100), 'A'+rune(l.random.IntN(6)), l.random.IntN(1000), l.pick(quantities), ext)
	d.Format, d.MediaType = ext, "application/"+ext
	if l.n%10 == 0 {
		var text []string
		for range 5 + l.random.IntN(11) {
			text = append(text, l.pick(prose))
		}
		d.Description = strings.Join(text, " ")
	}
	for range l.random.IntN(4) {
		d.Tags = append(d.Tags, l.pick(prose))
	}
	if l.n%3 == 0 {
		d.Creators = []string{l.pick(people) + ", " + l.pick(people)}
	}
	if l.n%5 == 0 {
		d.Properties = []search.Property{{Path: "temperature", Kind: search.Quantity, Number: float64(l.random.IntN(400)) / 10, Unit: "°C", Text: "x °C"}}
	}
	return d
}

// containers returns the dataspaces, and the sets in them.
func (l *lab) containers() (changes []Change) {
	for i, id := range l.dataspaces {
		space := l.document()
		space.ID, space.Dataspace, space.Set, space.Kind, space.Name = id, id, [16]byte{}, search.Dataspace, fmt.Sprintf("lab-%d", i)
		changes = append(changes, Change{Document: &space})
		for n := range 20 {
			set := l.document()
			set.Kind, set.Name, set.Dataspace = search.Set, fmt.Sprintf("series-%d-%s", n, l.pick(quantities)), id
			set.Set = id
			set.Set[15] = byte(n)
			set.ID = set.Set
			changes = append(changes, Change{Document: &set})
		}
	}
	return changes
}

// build applies documents in batches.
func (l *lab) build(tb testing.TB, dir string, documents, batch int) *Index {
	tb.Helper()
	x, _, err := Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	if documents > 0 {
		if err := x.Apply(l.containers(), nil); err != nil {
			tb.Fatal(err)
		}
	}
	for done := 0; done < documents; {
		var changes []Change
		for range min(batch, documents-done) {
			d := l.document()
			changes = append(changes, Change{Document: &d})
		}
		done += len(changes)
		if err := x.Apply(changes, []byte(strconv.Itoa(done))); err != nil {
			tb.Fatal(err)
		}
	}
	return x
}

// anonymous returns the anonymous resident memory of the process in MiB.
func anonymous() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kib) / 1024
		}
	}
	return 0
}

// fromEnvironment returns the number in a variable, or a default.
func fromEnvironment(b *testing.B, name string, usual int) int {
	b.Helper()
	text, ok := os.LookupEnv(name)
	if !ok {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	return n
}

// BenchmarkScale measures an index with SEARCH_RECORDS documents in SEARCH_DATASPACES dataspaces.
// Run it with -benchtime=1x. The results are in its log.
func BenchmarkScale(b *testing.B) {
	records := fromEnvironment(b, "SEARCH_RECORDS", 10_000)
	l := newLab(fromEnvironment(b, "SEARCH_DATASPACES", 10))
	before := anonymous()
	begin := time.Now()
	peak := 0.0
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				peak = max(peak, anonymous())
			}
		}
	}()
	dir := os.Getenv("SEARCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	if _, err := os.Stat(dir); err == nil && os.Getenv("SEARCH_DIR") != "" {
		records = 0
	}
	x := l.build(b, dir, records, 1000)
	b.Logf("built %d in %v, %+v", records, time.Since(begin), x.Status())
	if os.Getenv("SEARCH_COMPACT") != "" {
		if err := x.Compact(); err != nil {
			b.Fatal(err)
		}
		b.Logf("compacted in %v", time.Since(begin))
	}
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	close(stop)
	<-stopped
	x, _, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	st := x.Status()
	b.Logf("reopened: %d segments, %.1f bytes per record; anonymous peak %.1f MiB, before %.1f, now %.1f", st.Segments,
		float64(st.Bytes)/float64(st.Documents), peak, before, anonymous())
	var half [][16]byte
	for i := 0; i < len(l.dataspaces); i += 2 {
		half = append(half, l.dataspaces[i])
	}
	queries := []string{"temperature run17", "temperat 42", "csv sample", "annealing vacuum", "nowhere atall", `"sample a042"`, "temperature:>20C csv", "tag:vacuum", "series temperature", "lab", ""}
	if q, ok := os.LookupEnv("SEARCH_QUERY"); ok {
		queries = []string{q}
	}
	for _, text := range queries {
		q, err := query.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range []Request{{Dataspaces: half}, {All: true}} {
			r.Query, r.Limit, r.Counts = q, 50, 20
			var times []time.Duration
			total := 0
			for range 60 {
				start := time.Now()
				result, err := x.Search(context.Background(), r)
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
				total = result.Total
			}
			slices.Sort(times)
			b.Logf("%-24q all=%-5v %7d hits p50 %8v p99 %8v", text, r.All, total, times[30], times[59])
		}
	}
	runtime.GC()
	b.Logf("anonymous %.1f MiB", anonymous())
}
