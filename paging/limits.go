package paging

// Bounds of a Query.
const (
	// MaxLimit is the largest page size, in objects; the smallest is 1.
	MaxLimit = 1000
	// MaxName is the longest Name, NamePrefix or Position.Name, in bytes.
	MaxName = 4096
	// MaxContainerName is the longest Name in a listing of sets or dataspaces,
	// in bytes.
	MaxContainerName = 100
	// MaxOrigin is the longest Origin, in characters (code points).
	MaxOrigin = 500
	// MaxAction is the longest Action, in bytes.
	MaxAction = 64
	// MaxText is the longest Text, in bytes.
	MaxText = 500
)
