package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/verify/e2e"
)

// BenchmarkPropfind lists a folder of 10,000 files. It measures how much the memory of a restarted
// idle service grows with the first listing and with all listings. It includes only memory of the
// process itself: the system owns mapped pages of the metadata file, and can reclaim them. For the
// heap, it reports the allocations of one listing, and the growth of the live heap after all
// listings. The process can grow by the allocations of one listing without a garbage collection.
func BenchmarkPropfind(b *testing.B) {
	data := filepath.Join(b.TempDir(), "data")
	service, set := benchmarked(b, data)
	const files = 10_000
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for n := worker; n < files; n += 16 {
				name := fmt.Sprintf("run/file %05d.csv", n)
				if _, err := service.Upload(b.Context(), "POST", "/resources", e2e.File{SetID: set, Name: name, Filename: "f.csv", Body: strings.NewReader(name), Size: int64(len(name))}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	p := again(b, service, data)
	url, header := "http://"+p.Address()+"/dav/files-space/files/run", map[string][]string{"Depth": {"1"}, "Authorization": {p.Key()}}
	var times []time.Duration
	before, heap, first, most, listings := p.own(b), p.heap(b, true), 0, 0, uint64(0)
	for b.Loop() {
		began := time.Now()
		a, err := p.Exchange(b.Context(), "PROPFIND", url, header, nil)
		times = append(times, time.Since(began))
		if err != nil || a.Status != 207 || strings.Count(string(a.Body), "<D:response>") != files+1 {
			b.Fatal(err, a.Status, len(a.Body))
		}
		if most = max(most, p.own(b)-before); listings == 0 {
			first = most
		}
		listings++
	}
	after := p.heap(b, false)
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms/median")
	b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, "ms/max")
	b.ReportMetric(float64(first)/1024, "MiB-grown-by-first")
	b.ReportMetric(float64(most)/1024, "MiB-grown-by-all")
	allocated := float64(after.TotalAlloc-heap.TotalAlloc) / float64(listings) / (1 << 20)
	if b.ReportMetric(allocated, "MiB-allocated/op"); allocated > 8 {
		b.Error("a listing may allocate at most 8 MiB")
	}
	b.ReportMetric(float64(int64(p.heap(b, true).HeapAlloc-heap.HeapAlloc))/(1<<20), "MiB-in-use-more")
}

// profiled is a service with heap profiles.
type profiled struct {
	*e2e.Service
	profiles string // address
}

// again restarts a service with its data, and returns when it is idle.
func again(b *testing.B, service *e2e.Service, data string) (p profiled) {
	b.Helper()
	check(b, service.Stop())
	var err error
	p.Service, err = e2e.Start(context.Background(), program, data, "--pprof", "127.0.0.1:0")
	check(b, err)
	b.Cleanup(func() { check(b, p.Stop()) })
	log, err := os.ReadFile(data + ".log")
	check(b, err)
	found := regexp.MustCompile(`"address":"([^"]*)"[^\n]*"message":"pprof is served`).FindSubmatch(log)
	if found == nil {
		b.Fatalf("the log has no address of profiles:\n%s", log)
	}
	p.profiles = string(found[1]) + "/debug/pprof"
	for last := uint64(0); ; time.Sleep(time.Second) { // the requests of heap allocate less than the limit
		now := p.heap(b, false).TotalAlloc
		if now-last < 1<<19 {
			return p
		}
		last = now
	}
}

// heap returns statistics of the heap. If collected is set, the service collects garbage first.
func (p profiled) heap(b *testing.B, collected bool) (m runtime.MemStats) {
	b.Helper()
	address := p.profiles + "/heap?debug=1"
	if collected {
		address += "&gc=1"
	}
	response, err := http.Get(address)
	check(b, err)
	text, err := io.ReadAll(response.Body)
	check(b, errors.Join(err, response.Body.Close()))
	for name, into := range map[string]*uint64{"TotalAlloc": &m.TotalAlloc, "HeapAlloc": &m.HeapAlloc} {
		found := regexp.MustCompile("# " + name + " = ([0-9]+)").FindSubmatch(text)
		if found == nil {
			b.Fatalf("%s: %.1000s", response.Status, text)
		}
		*into, err = strconv.ParseUint(string(found[1]), 10, 64)
		check(b, err)
	}
	return m
}

// benchmarked starts a service with a set.
func benchmarked(b *testing.B, data string) (service *e2e.Service, set string) {
	b.Helper()
	service, err := e2e.Start(context.Background(), program, data)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := service.Stop(); err != nil {
			b.Error(err)
		}
	})
	if _, set, err = service.MakeSet(b.Context(), "files"); err != nil {
		b.Fatal(err)
	}
	return service, set
}

// own returns the memory of the process without mapped pages of files, in KiB.
func (p profiled) own(b *testing.B) int {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		b.Skip(err)
	}
	n, err := strconv.Atoi(string(regexp.MustCompile(`RssAnon:\s+(\d+)`).FindSubmatch(status)[1]))
	check(b, err)
	return n
}
