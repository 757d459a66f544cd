package handlers

import (
	"net/http"
	"slices"
	"sync"

	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository"
)

// pageJSON is a page with results; the end of a listing is endJSON.
type pageJSON[J any] struct {
	NextPage    string `json:"nextPage"`
	CurrentPage string `json:"currentPage"`
	Data        []J    `json:"data"`
	End         bool   `json:"end"`
}

type endJSON struct {
	End bool `json:"end"`
}

// writePage answers with one page of the listing at the request's path.
func writePage[T, J any](a *api, w http.ResponseWriter, r *request, page repository.Page[T], show func(T) J) {
	_ = a.sendPage(w, r, encode(shownPage(a.base(r), r, page, show))) // a client that went away gets no error
}

// shownPage is one page of the listing at the request's path.
func shownPage[T, J any](base string, r *request, page repository.Page[T], show func(T) J) any {
	if len(page.Items) == 0 {
		return endJSON{End: true}
	}
	address := base + r.path + results
	shown := pageJSON[J]{NextPage: address + page.Next, CurrentPage: address + page.Current, Data: make([]J, len(page.Items))}
	for i, item := range page.Items {
		shown.Data[i] = show(item)
	}
	return shown
}

// itemIndent is before each line of an item in a page but its first.
const itemIndent = "    "

// pageBuffer is one page of resources while it is made. What stands before its items is known after them: room is left for it,
// so that the page is one piece, sent by one Write.
type pageBuffer struct {
	address string // of the listing's pages, without a token
	room    int
	bytes   []byte // from room on: the items
	items   int
}

func (p *pageBuffer) add(l layout, r *metadata.Resource) {
	if p.items++; p.items > 1 {
		p.bytes = append(p.bytes, ',')
	}
	p.bytes = l.append(append(p.bytes, "\n"+itemIndent...), r)
}

// finish returns the page, valid until the buffer is done with. It has items.
func (p *pageBuffer) finish(ends repository.PageEnds) []byte {
	p.bytes = append(p.bytes, "\n  ],\n  \"end\": false\n}\n"...)
	head := [...]string{
		"{\n  \"nextPage\": \"", p.address, ends.Next, "\",\n  \"currentPage\": \"", p.address, ends.Current, "\",\n  \"data\": [",
	}
	begin := p.room
	for _, text := range head {
		begin -= len(text)
	}
	at := begin
	for _, text := range head {
		at += copy(p.bytes[at:p.room], text)
	}
	return p.bytes[begin:]
}

// pageBuffers keeps the memory of pages for later ones.
type pageBuffers struct{ free sync.Pool }

// begin returns an empty page, to be given to done when nobody reads it any more.
func (b *pageBuffers) begin(address string) *pageBuffer {
	p, _ := b.free.Get().(*pageBuffer)
	if p == nil {
		p = &pageBuffer{}
	}
	const rest = 100 // bytes of the head beside its two addresses
	p.address, p.items = escaped(address), 0
	p.room = 2*(len(p.address)+paging.MaxNamedToken) + rest
	p.bytes = slices.Grow(p.bytes[:0], p.room)[:p.room]
	return p
}

func (b *pageBuffers) done(p *pageBuffer) {
	const most = 2 << 20 // bytes kept: enough for the largest page of usual resources, 1 kB each
	if cap(p.bytes) <= most {
		b.free.Put(p)
	}
}
