package encode

import (
	"slices"
	"sync"

	"labshelf/paging"
	"labshelf/repository/core"
)

// ItemIndent begins each line of an item in a page but the first.
const ItemIndent = "    "

// Page is one page of a listing while it is built. What precedes its items is known after them:
// room is left for it, so that the page is contiguous, and sent by one Write.
type Page struct {
	address string // of the listing's pages, without a token
	room    int
	bytes   []byte // from room on: the items
	items   int
	folders []byte // their objects
}

// Add appends an item to a page.
func Add[T any](p *Page, l Layout[T], item *T) {
	if p.items++; p.items > 1 {
		p.bytes = append(p.bytes, ',')
	}
	p.bytes = l.Append(append(p.bytes, "\n"+ItemIndent...), item)
}

// AddFolder appends a folder to a page.
func (p *Page) AddFolder(path string) {
	if len(p.folders) > 0 {
		p.folders = append(p.folders, ',')
	}
	p.folders = append(p.folders, "\n"+ItemIndent+"{\"path\": \""...)
	p.folders = append(appendText(p.folders, path), "\"}"...)
}

// Empty tells whether nothing has been added.
func (p *Page) Empty() bool { return p.items == 0 && len(p.folders) == 0 }

// Finish returns the page, which is not empty. It is valid until the page is given to [Pages.Done].
func (p *Page) Finish(ends core.PageEnds) []byte {
	if p.items > 0 {
		p.bytes = append(p.bytes, "\n  "...)
	}
	if p.bytes = append(p.bytes, "],\n  "...); len(p.folders) > 0 {
		p.bytes = append(append(append(p.bytes, "\"folders\": ["...), p.folders...), "\n  ],\n  "...)
	}
	p.bytes = append(p.bytes, "\"end\": false\n}\n"...)
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

// Pages is a pool of pages, for their memory.
type Pages struct{ free sync.Pool }

// Begin returns an empty page of the listing whose pages have the address, to which a token is
// added.
func (b *Pages) Begin(address string) *Page {
	p, _ := b.free.Get().(*Page)
	if p == nil {
		p = &Page{}
	}
	const rest = 100 // bytes of the head without its two addresses
	p.address, p.items, p.folders = escaped(address), 0, p.folders[:0]
	p.room = 2*(len(p.address)+paging.MaxNamedToken) + rest
	p.bytes = slices.Grow(p.bytes[:0], p.room)[:p.room]
	return p
}

// Done takes a page back that is not read any more.
func (b *Pages) Done(p *Page) {
	const most = 2 << 20 // bytes pooled: enough for the largest page of usual resources, 1 kB each
	if cap(p.bytes) <= most {
		b.free.Put(p)
	}
}
