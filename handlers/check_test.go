package handlers_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/repository"
)

// TestCheckNamesEachViolation tests that violations are reported once for each resource, and that
// intact data is counted.
func TestCheckNamesEachViolation(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	set := s.newSet()
	contents := []string{"first <&> content", "second content", "third"}
	for i, content := range contents {
		s.upload(set, fmt.Sprint("f", i), content)
	}
	twice := s.upload(set, "again <&>.txt", contents[0])
	clean := c.send("POST", "/admin/check", nil).checks()
	same(t, "violations", len(clean.violations), 0)
	stamp, _ := clean.end["stamp"].(float64)
	delete(clean.end, "stamp")
	same(t, "the checked objects", fmt.Sprint(clean.end), "map[blobs:3 bytes:36 resources:4 unreferenced:0 unreferencedBytes:0 violations:0]")
	same(t, "the stamp", int64(stamp)/1000 >= int64(twice["modified_epoch"].(float64)), true)

	if err := os.WriteFile(s.blobFile(contents[0]), []byte("first <&> cOntent"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.blobFile(contents[1])); err != nil {
		t.Fatal(err)
	}
	quick := c.send("POST", "/admin/check", object{"noData": true}).checks()
	same(t, "violations seen without reading", len(quick.violations), 1)
	same(t, "the part", quick.violations[0].text("part"), "blobs")
	same(t, "the resource without a file", quick.violations[0].text("name"), "f1")

	whole := c.send("POST", "/admin/check", object{}).checks()
	same(t, "violations", len(whole.violations), 3)
	same(t, "their number", whole.end["violations"], any(3.0))
	names, damaged := map[string]bool{}, 0
	for _, v := range whole.violations {
		names[v.text("name")] = true
		if v.text("id") == twice.text("id") && strings.Contains(v.text("wrong"), sha256Hex(contents[0])) {
			damaged++
		}
		same(t, "a path of the server", strings.Contains(fmt.Sprint(v), c.dir), false)
	}
	same(t, "the damaged resources", fmt.Sprint(names), "map[again <&>.txt:true f0:true f1:true]")
	same(t, "by id and digest", damaged, 1)
	same(t, "the damages that the service has recorded", c.damaged(), 2.0)

	parts := 0
	for _, subset := range []string{"1/2", "2/2"} {
		part := c.send("POST", "/admin/check", object{"subset": subset, "noData": false}).checks()
		blobs, _ := part.end["blobs"].(float64)
		parts += int(blobs)
	}
	same(t, "blobs in both halves", parts, 3)
}

// slow is a disk whose blobs cannot be read to their end until goOn is closed.
type slow struct {
	*directory.Store
	goOn  chan struct{}
	asked atomic.Pointer[context.Context] // context of the last Open
}

func (s *slow) Open(ctx context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	s.asked.Store(&ctx)
	file, err := s.Store.Open(ctx, b)
	return &slowFile{file, s}, err
}

type slowFile struct {
	io.ReadSeekCloser
	disk *slow
}

func (f *slowFile) Read(p []byte) (int, error) {
	n, err := f.ReadSeekCloser.Read(p)
	if err == io.EOF {
		<-f.disk.goOn
	}
	return n, err
}

// TestCheckReportsProgress tests that a check reports its progress at most twice a second, and
// stops when its client disconnects.
func TestCheckReportsProgress(t *testing.T) {
	t.Parallel()
	disk := &slow{goOn: make(chan struct{})}
	c := gatewayOver(t, handlers.Config{Stall: time.Second}, repository.Config{}, func(dir *directory.Store) blobs.Folder {
		disk.Store = dir
		return disk
	})
	c.newSpace(nil).newFile("a", "content")
	begun := time.Now()
	response, err := httpClient.Do(c.request("POST", "/admin/check", nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(response.Body)
	for i := range 4 {
		if !lines.Scan() {
			t.Fatalf("the lines end after %d: %v", i, lines.Err())
		}
		if !strings.HasPrefix(lines.Text(), `{"progress":{"done":0,"total":`) {
			t.Errorf("line %d: %s", i, lines.Text())
		}
	}
	if took := time.Since(begun); took < 4*450*time.Millisecond {
		t.Errorf("received four lines within %v", took)
	}
	same(t, "giving up", response.Body.Close(), nil)
	<-(*disk.asked.Load()).Done() // the server has noticed the disconnect
	close(disk.goOn)
	eventually(t, "the end of the check", func() bool { return strings.Contains(c.log.String(), "/admin/check") })
	same(t, "an error in the log", strings.Contains(c.log.String(), `"level":"error"`), false)
	same(t, "the next check", c.send("POST", "/admin/check", nil).checks().end["blobs"], any(1.0))
}

// TestFailedCheckReportsError tests that the last line reports why a check cannot continue.
func TestFailedCheckReportsError(t *testing.T) {
	t.Parallel()
	disk := &unavailable{}
	c := gatewayOver(t, handlers.Config{}, repository.Config{}, func(dir *directory.Store) blobs.Folder {
		disk.Store = dir
		return disk
	})
	c.newSpace(nil).newFile("a", "content")
	failed := c.send("POST", "/admin/check", nil).checks().failed
	same(t, "the code", failed.text("code"), "unavailable")
	same(t, "the detail", failed.text("detail") != "" && !strings.Contains(failed.text("detail"), "secret"), true)
	same(t, "the log has the reason", strings.Contains(c.log.String(), "too many secret files"), true)
}

// unavailable is a disk that cannot open any blob.
type unavailable struct{ *directory.Store }

func (*unavailable) Open(context.Context, blobs.Blob) (io.ReadSeekCloser, error) {
	return nil, fmt.Errorf("%w: too many secret files", blobs.ErrUnavailable)
}

// TestPanickedCheckStopsWriting tests that nothing is written to an answer after a panic, because
// its memory may be reused by then.
func TestPanickedCheckStopsWriting(t *testing.T) {
	t.Parallel()
	c := gatewayOver(t, handlers.Config{}, repository.Config{}, func(dir *directory.Store) blobs.Folder { return &faulty{dir} })
	c.newSpace(nil).newFile("a", "content")
	response, err := httpClient.Do(c.request("POST", "/admin/check", nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, response.Body)
	same(t, "the answer is cut off", err, io.ErrUnexpectedEOF)
	same(t, "closing it", response.Body.Close(), nil)
	eventually(t, "the end of the progress", func() bool {
		var stacks bytes.Buffer
		return pprof.Lookup("goroutine").WriteTo(&stacks, 2) == nil && !strings.Contains(stacks.String(), "handlers.startLines")
	})
}

// faulty is a disk that panics.
type faulty struct{ *directory.Store }

func (*faulty) Open(context.Context, blobs.Blob) (io.ReadSeekCloser, error) { panic("a mistake") }
