package index

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/search"
	"labshelf/search/query"
)

// TestSearchesWhileItChanges searches while documents are replaced, flushed and merged. Every
// result contains each document once, in its old or new form.
func TestSearchesWhileItChanges(t *testing.T) {
	t.Parallel()
	x, _, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const documents = 300
	l := newLab(7)
	docs := make([]search.Document, documents)
	var all []Change
	for i := range docs {
		docs[i] = l.document()
		all = append(all, Change{Document: &docs[i]})
	}
	if err := x.Apply(all, nil); err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var searches sync.WaitGroup
	for _, order := range []Order{ByRelevance, ByName, Newest} {
		searches.Go(func() {
			for !done.Load() {
				result, err := x.Search(context.Background(), Request{All: true, Order: order, Limit: documents + 10, Counts: 10})
				if err != nil {
					t.Error(err)
					return
				}
				ids := map[[16]byte]bool{}
				for _, h := range result.Hits {
					ids[h.ID] = true
				}
				if result.Total != documents || len(ids) != documents {
					t.Errorf("%d hits, %d of them different", result.Total, len(ids))
					return
				}
			}
		})
	}
	batches := 300
	if testing.Short() {
		batches = 60
	}
	for i := range batches {
		var batch []Change
		for k := range 20 {
			d := docs[(i*7+k*13)%documents]
			d.Name = l.document().Name
			d.Dataspace = l.dataspaces[l.random.IntN(7)]
			batch = append(batch, Change{Document: &d})
		}
		if err := x.Apply(batch, nil); err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			if err := x.flush(); err != nil {
				t.Fatal(err)
			}
			for x.mergeOnce() {
			}
		}
	}
	done.Store(true)
	searches.Wait()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Search(context.Background(), Request{All: true}); !errors.Is(err, errClosed) {
		t.Errorf("a search after Close: %v", err)
	}
	if err := x.Apply(nil, nil); !errors.Is(err, errClosed) {
		t.Errorf("a change after Close: %v", err)
	}
}

func TestSearchStopsWithItsContext(t *testing.T) {
	t.Parallel()
	x, _, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := newLab(1).document()
	if err := x.Apply([]Change{{Document: &d}}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Search(ctx, Request{All: true, Query: query.Query{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}
