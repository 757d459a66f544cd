package bolt

// bucket is one of the buckets of the file.
type bucket uint8

const (
	metaBucket bucket = iota
	dataspacesBucket
	dataspaceNames
	dataspacesPublic
	setsBucket
	setNames
	setsByState
	setsByDataspace
	resourcesBucket
	resourcesByTime
	resourcesByDataspace
	resourcesBySet
	resourcesByName
	usersBucket
	usernames
	keysBucket
	keysByUser
	privilegesBucket
	privilegesByDataspace
	privilegesByUser
	stepsBucket
	usageBucket
	usageByDay
	blobsBucket
	blobRefs
	bucketCount
)

// buckets says what each bucket is called in the file, and how full its pages are packed when they split: those that grow at
// the end of their ranges to the brim, since nothing will come in between (1,207 bytes a resource instead of 2,111).
var buckets = [bucketCount]struct {
	name string
	fill float64
}{
	metaBucket:            {"meta", mixed},
	dataspacesBucket:      {"dataspaces", growing},
	dataspaceNames:        {"dataspace_names", mixed},
	dataspacesPublic:      {"dataspaces_public", growing},
	setsBucket:            {"sets", growing},
	setNames:              {"set_names", mixed},
	setsByState:           {"sets_by_state", growing},
	setsByDataspace:       {"sets_by_dataspace", growing},
	resourcesBucket:       {"resources", growing},
	resourcesByTime:       {"resources_by_time", growing},
	resourcesByDataspace:  {"resources_by_dataspace", growing},
	resourcesBySet:        {"resources_by_set", growing},
	resourcesByName:       {"resources_by_name", mixed},
	usersBucket:           {"users", growing},
	usernames:             {"usernames", mixed},
	keysBucket:            {"keys", mixed},
	keysByUser:            {"keys_by_user", mixed},
	privilegesBucket:      {"privileges", growing},
	privilegesByDataspace: {"privileges_by_dataspace", mixed},
	privilegesByUser:      {"privileges_by_user", mixed},
	stepsBucket:           {"steps", mixed},
	usageBucket:           {"usage", mixed},
	usageByDay:            {"usage_by_day", growing},
	blobsBucket:           {"blobs", mixed},
	blobRefs:              {"blob_refs", mixed},
}

const (
	growing = 1.0
	mixed   = 0.5
)

func (b bucket) String() string { return buckets[b].name }

// The rows of the meta bucket.
const (
	schemaRow    = "schema"
	lastStampRow = "last stamp"
	secretRow    = "token secret"
)
