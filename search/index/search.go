package index

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"labshelf/search/query"
)

// Request describes a search.
type Request struct {
	Query      query.Query // with its In clauses resolved
	All        bool        // every dataspace; otherwise:
	Dataspaces [][16]byte  // the readable dataspaces, sorted
	Order      Order
	After      *Position // the last hit of the previous page; nil for the first page
	Limit      int       // maximum number of hits
	Counts     int       // maximum number of values of each kind; 0 counts nothing
}

// Result is the result of a search.
type Result struct {
	Hits   []Hit // in order
	Total  int   // of all hits, on all pages
	Counts Counts
}

// task is one shard to search.
type task struct {
	part  *part
	shard int
}

// open returns the shard, its dataspace, and its dead documents.
func (t *task) open() (s shard, dataspace [16]byte, dead bitmap, err error) {
	s, err = t.part.shard(t.shard)
	return s, t.part.shards[t.shard].dataspace, t.part.dead[t.shard], err
}

// job is one search.
type job struct {
	request    *Request
	tasks      []task
	containers []containers // of each clause
	next       atomic.Int64 // of the tasks that no worker has started
	meter      meter
}

// docsPerWorker is the number of documents that justifies another goroutine.
const docsPerWorker = 10_000

// Search returns the hits of a query among the documents at its beginning. Its only errors are the
// error of ctx, ErrDamaged, ErrTooCostly, and the error of a closed index.
func (x *Index) Search(ctx context.Context, r Request) (Result, error) {
	return x.search(ctx, r, MaxWork)
}

// search is like Search with a different work limit.
func (x *Index) search(ctx context.Context, r Request, maxWork int64) (Result, error) {
	s, err := x.acquire()
	if err != nil {
		return Result{}, err
	}
	defer x.release(s)
	tasks, docs := r.tasks(s)
	j := job{request: &r, tasks: tasks, containers: make([]containers, len(r.Query.Clauses))}
	j.meter.left.Store(maxWork)
	if err := guard(func() error { return j.findContainers(ctx) }); err != nil {
		return Result{}, err
	}
	workers := make([]worker, min(runtime.GOMAXPROCS(0), 1+docs/docsPerWorker))
	var running sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		w.collector, w.counter = newCollector(&r), newCounter()
		run := func() {
			w.err = guard(func() error { return w.run(ctx, &j) })
		}
		if i == len(workers)-1 {
			run()
		} else {
			running.Go(run)
		}
	}
	running.Wait()
	first := &workers[0]
	for i := range workers[1:] {
		first.collector.merge(workers[i+1].collector)
		first.counter.merge(workers[i+1].counter)
		first.err = cmp.Or(first.err, workers[i+1].err)
	}
	if first.err != nil {
		return Result{}, first.err
	}
	first.collector.trim()
	result := Result{Hits: first.collector.hits, Total: first.collector.total}
	if r.Counts > 0 {
		result.Counts = first.counter.top(r.Counts)
	}
	return result, nil
}

// tasks returns the shards of the dataspaces of a request, largest first, and their number of
// documents.
func (r *Request) tasks(s *snapshot) ([]task, int) {
	var all []task
	docs := 0
	for i := range s.parts {
		p := &s.parts[i]
		for at := range p.shards {
			if r.reads(p.shards[at].dataspace) {
				all = append(all, task{p, at})
				docs += p.shards[at].docs
			}
		}
	}
	slices.SortStableFunc(all, func(a, b task) int {
		return cmp.Compare(b.part.shards[b.shard].docs, a.part.shards[a.shard].docs)
	})
	return all, docs
}

func (r *Request) reads(dataspace [16]byte) bool {
	if r.All {
		return true
	}
	_, ok := slices.BinarySearchFunc(r.Dataspaces, dataspace, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	return ok
}

// worker searches shards.
type worker struct {
	collector *collector
	counter   *counter
	err       error
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// run searches shards until none is left.
func (w *worker) run(ctx context.Context, j *job) error {
	memory := scratches.Get().(*scratch)
	memory.begin(j.meter.charge(ctx))
	for {
		i := int(j.next.Add(1)) - 1
		if i >= len(j.tasks) {
			break
		}
		if err := ctx.Err(); err != nil {
			return err // the scratch is not clean
		}
		s, dataspace, dead, err := j.tasks[i].open()
		if err != nil {
			return err
		}
		found := memory.evaluate(&s, dataspace, dead, j)
		if memory.stopped != nil {
			return memory.stopped
		}
		if !found {
			continue
		}
		w.collector.collect(memory, &s, dataspace)
		if j.request.Counts > 0 {
			w.counter.count(memory, &s, dataspace)
		}
	}
	return memory.end()
}
