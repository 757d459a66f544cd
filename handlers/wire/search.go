package wire

// The kinds of hits.
const (
	KindDataspace = "dataspace"
	KindSet       = "set"
	KindResource  = "resource"
)

// Hit is an object that a search has found, in its current state. R is the type of its record: a
// Dataspace, Set or Resource.
type Hit[R any] struct {
	Kind    string   `json:"kind"`    // KindDataspace, KindSet or KindResource
	Matched []string `json:"matched"` // parts that contain words of the query, such as name or text; empty if the query has no words
	Record  R        `json:"record"`
}

// SearchPage is a page of search results.
type SearchPage[R any] struct {
	Page[Hit[R]]
	SearchSums
}

// SearchEnd is the page after the last page of search results.
type SearchEnd struct {
	End
	SearchSums
}

// SearchSums are the totals in a page of search results.
type SearchSums struct {
	Total  *int          `json:"total,omitempty"`  // hits on all pages; only on the first page, and only if the query requested counts
	Counts *SearchCounts `json:"counts,omitempty"` // like Total
	Behind uint64        `json:"behind,omitempty"` // number of changes that are not indexed yet
}

// SearchCounts are the most frequent values among the hits, up to 20 of each kind, the most
// frequent first.
type SearchCounts struct {
	Kinds      []Count[string] `json:"kinds"`
	Dataspaces []Count[string] `json:"dataspaces"` // by id
	Tags       []Count[string] `json:"tags"`
	Creators   []Count[string] `json:"creators"` // creators with ORCID
	Years      []Count[int]    `json:"years"`    // year of publication, otherwise of creation
}

// Count is the number of hits with a value.
type Count[V any] struct {
	Value V      `json:"value"`
	Name  string `json:"name,omitempty"` // name of a dataspace
	Count int    `json:"count"`
}

// The states of an Index.
const (
	IndexCurrent  = "current"
	IndexBehind   = "behind"
	IndexBuilding = "building" // being rebuilt; results are incomplete
	IndexFailing  = "failing"  // cannot be written; the service retries
)

// Index is the state of the search index.
type Index struct {
	State     string `json:"state"`   // IndexCurrent, IndexBehind, IndexBuilding or IndexFailing
	Entries   uint64 `json:"entries"` // indexed entries of the audit log
	Behind    uint64 `json:"behind"`  // entries that are not indexed yet
	Texts     string `json:"texts"`   // content of files: IndexCurrent, or IndexBehind if some content is not indexed yet
	Schemas   string `json:"schemas"` // IndexCurrent, or IndexBehind if is:incomplete does not reflect the last change of a schema yet
	Documents int64  `json:"documents"`
	Bytes     int64  `json:"bytes"`             // size in files and in memory
	Failure   string `json:"failure,omitempty"` // why the index is failing
}
