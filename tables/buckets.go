package tables

// Bucket is one of the buckets of an engine.
type Bucket uint8

const (
	metaBucket Bucket = iota
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
	cascadesBucket
	usageBucket
	usageByDay
	blobsBucket
	blobRefs
	blobsDamaged
	bodiesBucket
	sessionsBucket
	uploadsBucket
	uploadsByEnd
	uploadsByDigest
	blobsUnreferenced
	versionsBucket
	versionRefs // of schema 8 alone: the references of the rows in versionsBucket
	auditBucket
	webhooksBucket
	deliveriesBucket
	descriptiveBucket
	schemasBucket
	schemasByDataspace
	schemaVersionsBucket
	editsBucket
	editsBySet
	editEntries
	foldersBucket
	filePropertiesBucket
	linksBucket
	linksByDigest
	linksByDataspace
	linksByOwner
	linkUsesBucket
	usageByUser
	leasesBucket
	nodesBucket
	blobsByObject
	trashedBucket
	trashedByObject

	// BucketCount is how many buckets there are.
	BucketCount
)

// buckets says what each bucket is called, and how full its pages should be when they split: full in buckets that grow at the end of their
// ranges, since no key comes in between (1,207 bytes a resource instead of 2,111 in a bbolt file).
var buckets = [BucketCount]struct {
	name  string
	fill  float64
	since uint32 // the schema version that added it
}{
	metaBucket:            {"meta", mixed, 1},
	dataspacesBucket:      {"dataspaces", growing, 1},
	dataspaceNames:        {"dataspace_names", mixed, 1},
	dataspacesPublic:      {"dataspaces_public", growing, 1},
	setsBucket:            {"sets", growing, 1},
	setNames:              {"set_names", mixed, 1},
	setsByState:           {"sets_by_state", growing, 1},
	setsByDataspace:       {"sets_by_dataspace", growing, 1},
	resourcesBucket:       {"resources", growing, 1},
	resourcesByTime:       {"resources_by_time", growing, 1},
	resourcesByDataspace:  {"resources_by_dataspace", growing, 1},
	resourcesBySet:        {"resources_by_set", growing, 1},
	resourcesByName:       {"resources_by_name", mixed, 1},
	usersBucket:           {"users", growing, 1},
	usernames:             {"usernames", mixed, 1},
	keysBucket:            {"keys", mixed, 1},
	keysByUser:            {"keys_by_user", mixed, 1},
	privilegesBucket:      {"privileges", growing, 1},
	privilegesByDataspace: {"privileges_by_dataspace", mixed, 1},
	privilegesByUser:      {"privileges_by_user", mixed, 1},
	cascadesBucket:        {"steps", mixed, 1},
	usageBucket:           {"usage", mixed, 1},
	usageByDay:            {"usage_by_day", growing, 1},
	blobsBucket:           {"blobs", mixed, 1},
	blobRefs:              {"blob_refs", mixed, 1},
	blobsDamaged:          {"blobs_damaged", mixed, 2},
	bodiesBucket:          {"bodies", growing, 3},
	sessionsBucket:        {"sessions", mixed, 4},
	uploadsBucket:         {"transfers", growing, 5},
	uploadsByEnd:          {"transfers_by_end", growing, 5},
	uploadsByDigest:       {"transfers_by_digest", mixed, 5},
	blobsUnreferenced:     {"blobs_unreferenced", mixed, 7},
	versionsBucket:        {"versions", growing, 8},
	versionRefs:           {"version_refs", mixed, 8},
	auditBucket:           {"audit", growing, 9},
	webhooksBucket:        {"webhooks", growing, 9},
	deliveriesBucket:      {"deliveries", growing, 9},
	descriptiveBucket:     {"descriptive", growing, 10},
	schemasBucket:         {"schemas", growing, 11},
	schemasByDataspace:    {"schemas_by_dataspace", growing, 11},
	schemaVersionsBucket:  {"schema_versions", growing, 11},
	editsBucket:           {"edits", growing, 11},
	editsBySet:            {"edits_by_set", growing, 11},
	editEntries:           {"edit_entries", growing, 11},
	foldersBucket:         {"folders", mixed, 12},
	filePropertiesBucket:  {"file_properties", growing, 12},
	linksBucket:           {"links", growing, 12},
	linksByDigest:         {"links_by_digest", mixed, 12},
	linksByDataspace:      {"links_by_dataspace", growing, 12},
	linksByOwner:          {"links_by_owner", growing, 12},
	linkUsesBucket:        {"link_uses", growing, 12},
	usageByUser:           {"usage_by_user", mixed, 12},
	leasesBucket:          {"leases", mixed, 13},
	nodesBucket:           {"nodes", mixed, 13},
	blobsByObject:         {"blobs_by_object", growing, 14},
	trashedBucket:         {"trashed", mixed, 14},
	trashedByObject:       {"trashed_by_object", growing, 14},
}

const (
	growing = 1.0
	mixed   = 0.5
)

// String returns the name of the bucket, which is never that of another one.
func (b Bucket) String() string { return buckets[b].name }

// Fill returns how full a page of the bucket should be when it splits, from 0.5 to 1.
func (b Bucket) Fill() float64 { return buckets[b].fill }

// In tells whether metadata of a schema version have the bucket.
func (b Bucket) In(version uint32) bool {
	return buckets[b].since <= version && (b != versionRefs || version < refsVersion)
}
