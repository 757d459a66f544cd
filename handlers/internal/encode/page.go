package encode

import (
	"slices"
	"sync"

	"labshelf/paging"
	"labshelf/repository/core"
)

// ItemIndent indents each line of an item in a page, except the first.
const ItemIndent = "    "

// Page is one page of a listing that is being built. The text before its items is known only at the
// end. So the page reserves room for it, to stay contiguous and to be sent by one Write.
type Page struct {
	address string // address of the listing's pages, without a token
	room    int
	bytes   []byte // the items, after the reserved room
	items   int
	folders []byte // JSON objects of the folders
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

// Empty reports whether the page has neither items nor folders.
func (p *Page) Empty() bool { return p.items == 0 && len(p.folders) == 0 }

// Finish returns the encoded page, which must not be empty. The result is valid until [Pages.Done].
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

// Pages is a pool of pages that reuses their memory.
type Pages struct{ free sync.Pool }

// Begin returns an empty page. address is the address of the listing's pages, without the token.
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

// Done returns a page to the pool. The caller must not use it any more.
func (b *Pages) Done(p *Page) {
	const most = 2 << 20 // bytes: enough for the largest page of usual resources of 1 kB each
	if cap(p.bytes) <= most {
		b.free.Put(p)
	}
}
