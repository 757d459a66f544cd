package wire

// The kinds of hits.
const (
	KindDataspace = "dataspace"
	KindSet       = "set"
	KindResource  = "resource"
)

// Hit is an object that a search has found, as it is now. R is how its record is kept, which is one
// of a Dataspace, a Set or a Resource.
type Hit[R any] struct {
	Kind    string   `json:"kind"`    // KindDataspace, KindSet or KindResource
	Matched []string `json:"matched"` // parts that have words of the query, such as name or text; empty if the query has no words
	Record  R        `json:"record"`
}

// SearchPage is a page of a search.
type SearchPage[R any] struct {
	Page[Hit[R]]
	SearchSums
}

// SearchEnd is the page of a search behind the last one.
type SearchEnd struct {
	End
	SearchSums
}

// SearchSums are what a page of a search says of the search.
type SearchSums struct {
	Total  *int          `json:"total,omitempty"`  // hits on all pages together, if the query asked for counts; on the first page only
	Counts *SearchCounts `json:"counts,omitempty"` // likewise
	Behind uint64        `json:"behind,omitempty"` // changes that a search does not find yet
}

// SearchCounts are the values that most hits have, up to 20 of each, the most frequent first.
type SearchCounts struct {
	Kinds      []Count[string] `json:"kinds"`
	Dataspaces []Count[string] `json:"dataspaces"` // by id
	Tags       []Count[string] `json:"tags"`
	Creators   []Count[string] `json:"creators"` // with ORCID
	Years      []Count[int]    `json:"years"`    // of publication, or else of creation
}

// Count says how many hits have a value.
type Count[V any] struct {
	Value V      `json:"value"`
	Name  string `json:"name,omitempty"` // of a dataspace
	Count int    `json:"count"`
}

// The states of an Index.
const (
	IndexCurrent  = "current"
	IndexBehind   = "behind"
	IndexBuilding = "building" // it is being made anew, and not everything is found
	IndexFailing  = "failing"  // it cannot be written, and is tried again
)

// Index is how far the index of the search is.
type Index struct {
	State     string `json:"state"`   // IndexCurrent, IndexBehind, IndexBuilding or IndexFailing
	Entries   uint64 `json:"entries"` // of the audit log that it has followed
	Behind    uint64 `json:"behind"`  // entries that it has not
	Texts     string `json:"texts"`   // of files: IndexCurrent, or IndexBehind where some are not in it
	Schemas   string `json:"schemas"` // IndexCurrent, or IndexBehind where is:incomplete does not know yet what the last change of a schema has made of some objects
	Documents int64  `json:"documents"`
	Bytes     int64  `json:"bytes"`             // its size, in files and in memory
	Failure   string `json:"failure,omitempty"` // why it is failing
}
