package repository_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository"
)

// promising is a store that can no longer promise what it holds, once it is told so.
func promising(p *partly) (*repository.Service, *forgetful) {
	meta := &forgetful{Store: p.meta}
	return p.over(meta, p.files), meta
}

// TestTransferToldForGood: how far a transfer is, and what it has become, is said only when a power cut cannot take it back: whoever
// hears of it may remove the file that he has.
func TestTransferToldForGood(t *testing.T) {
	t.Parallel()
	p := newPartly(t)
	done := p.begin(p.admin, "done", "0123", "0123")
	half := p.begin(p.admin, "half", "0123", "01")
	ended := p.begin(p.admin, "ended", "0123", "01")
	p.ok(p.svc.EndTransfer(t.Context(), p.admin, ended.ID.String()))
	svc, meta := promising(p)
	for _, lost := range []bool{false, true} {
		meta.lost = lost
		if err := svc.EndTransfer(t.Context(), p.admin, ended.ID.String()); errors.Is(err, metadata.ErrNotDurable) != lost {
			t.Errorf("lost: %t: the end of one that is not there: %v", lost, err)
		}
		for _, of := range []metadata.Transfer{done, half} {
			_, got := svc.GetTransfer(t.Context(), p.admin, of.ID.String())
			_, sent := svc.ContinueTransfer(t.Context(), p.admin, of.ID.String(), repository.Piece{
				Offset: of.Mark.Size, Body: strings.NewReader(""), Stop: func() {},
			})
			if errors.Is(got, metadata.ErrNotDurable) != lost || errors.Is(sent, metadata.ErrNotDurable) != lost {
				t.Errorf("%s, lost: %t: asked: %v; an empty piece: %v", of.Name, lost, got, sent)
			}
		}
	}
}

// dropping is a blob store that tells before it drops a file.
type dropping struct {
	blobs.Store
	before func()
}

func (d *dropping) DropPart(name string) error {
	d.before()
	return d.Store.DropPart(name)
}

// clinging is a blob store that cannot remove parts for a while.
type clinging struct {
	blobs.Store
	yes bool
}

func (s *clinging) DropPart(name string) error {
	if s.yes {
		return blobs.ErrUnavailable
	}
	return s.Store.DropPart(name)
}

// TestPartThatStays: a file that cannot be removed when its transfer has ended, or has become a resource, is no fault of that. The sweeper
// takes it.
func TestPartThatStays(t *testing.T) {
	t.Parallel()
	p := newPartly(t)
	store := &clinging{p.files, true}
	svc := p.over(p.meta, store)
	given, half := p.begin(p.admin, "given up", "0123", "01"), p.begin(p.admin, "half", "0123", "01")
	p.ok(svc.EndTransfer(t.Context(), p.admin, given.ID.String()))
	whole := p.begin(p.admin, "whole", "4567", "45")
	made, err := svc.ContinueTransfer(t.Context(), p.admin, whole.ID.String(), repository.Piece{Offset: 2, Length: 2, Body: strings.NewReader("67"), Stop: func() {}})
	if err != nil || !made.Done() {
		t.Fatalf("%+v, %v", made, err)
	}
	store.yes = false
	p.ok(svc.Sweep(t.Context()))
	var left []string
	p.ok(p.files.WalkParts(t.Context(), func(name string) error {
		left = append(left, name)
		return nil
	}))
	if !slices.Equal(left, []string{half.ID.String()}) {
		t.Errorf("the parts that are left: %q", left)
	}
}

// TestSweepSparesWhatWentOn: a piece that came while its transfer expired has it go on, also where a sweep had begun by then.
func TestSweepSparesWhatWentOn(t *testing.T) {
	t.Parallel()
	p := newPartly(t)
	first := p.begin(p.admin, "first", "0123", "01")
	p.now = p.now.Add(time.Second) // it expires after the first one
	second := p.begin(p.admin, "second", "abcd", "ab")
	store := &dropping{Store: p.files}
	svc := p.over(p.meta, store)
	body, client := io.Pipe()
	ended := make(chan error)
	go func() {
		_, err := svc.ContinueTransfer(t.Context(), p.admin, second.ID.String(), repository.Piece{Offset: 2, Length: -1, Body: body, Stop: func() {}})
		ended <- err
	}()
	_, err := client.Write([]byte("c"))
	p.ok(err)
	p.now = p.now.Add(61 * time.Minute)
	store.before = func() {
		store.before = func() {}
		p.ok(client.Close())
		p.ok(<-ended)
	}
	p.ok(svc.Sweep(t.Context()))
	_, err = svc.GetTransfer(t.Context(), p.admin, first.ID.String())
	wantCode(t, err, errs.CodeUploadNotFound)
	got, err := svc.GetTransfer(t.Context(), p.admin, second.ID.String())
	if err != nil || got.Mark.Size != 3 {
		t.Errorf("the second one is at %d, %v", got.Mark.Size, err)
	}
}
