package drive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/verify/e2e"
)

// BenchmarkPropfind lists a folder of 10,000 files, and says by how much the memory of the service grows.
func BenchmarkPropfind(b *testing.B) {
	service, set := benchmarked(b)
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
	url, header := "http://"+service.Address()+"/dav/files-space/files/run", map[string][]string{"Depth": {"1"}, "Authorization": {service.Key()}}
	var times []time.Duration
	before := resident(b, service.PID())
	for b.Loop() {
		began := time.Now()
		a, err := service.Exchange(b.Context(), "PROPFIND", url, header, nil)
		times = append(times, time.Since(began))
		if err != nil || a.Status != 207 || strings.Count(string(a.Body), "<D:response>") != files+1 {
			b.Fatal(err, a.Status, len(a.Body))
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms/median")
	b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, "ms/max")
	b.ReportMetric(float64(resident(b, service.PID())-before)/1024, "MiB-grown")
}

// benchmarked starts a service with a set.
func benchmarked(b *testing.B) (service *e2e.Service, set string) {
	b.Helper()
	service, err := e2e.Start(context.Background(), program, filepath.Join(b.TempDir(), "data"))
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

// resident is the greatest memory that a process has had, in KiB.
func resident(b *testing.B, pid int) int {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip(err)
	}
	n, err := strconv.Atoi(string(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(status)[1]))
	if err != nil {
		b.Fatal(err)
	}
	return n
}
