package tables

// Bucket identifies a bucket of an engine.
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
	versionRefs // only in schema 8: references of the rows in versionsBucket
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
	usageByUser // only in schemas 12 to 14: bytes of the resources that a user has created
	leasesBucket
	nodesBucket
	blobsByObject
	trashedBucket
	trashedByObject
	usageByStorer

	// BucketCount is the number of buckets.
	BucketCount
)

// buckets defines the name of each bucket, and how full its pages should be when they split. Pages
// should be full in buckets that grow only at the end of their ranges, since no key is inserted in
// between.
var buckets = [BucketCount]struct {
	name  string
	fill  float64
	since uint32 // schema version that added it
	until uint32 // schema version that removed it; 0: it still exists
}{
	metaBucket:            {"meta", mixed, 1, 0},
	dataspacesBucket:      {"dataspaces", growing, 1, 0},
	dataspaceNames:        {"dataspace_names", mixed, 1, 0},
	dataspacesPublic:      {"dataspaces_public", growing, 1, 0},
	setsBucket:            {"sets", growing, 1, 0},
	setNames:              {"set_names", mixed, 1, 0},
	setsByState:           {"sets_by_state", growing, 1, 0},
	setsByDataspace:       {"sets_by_dataspace", growing, 1, 0},
	resourcesBucket:       {"resources", growing, 1, 0},
	resourcesByTime:       {"resources_by_time", growing, 1, 0},
	resourcesByDataspace:  {"resources_by_dataspace", growing, 1, 0},
	resourcesBySet:        {"resources_by_set", growing, 1, 0},
	resourcesByName:       {"resources_by_name", mixed, 1, 0},
	usersBucket:           {"users", growing, 1, 0},
	usernames:             {"usernames", mixed, 1, 0},
	keysBucket:            {"keys", mixed, 1, 0},
	keysByUser:            {"keys_by_user", mixed, 1, 0},
	privilegesBucket:      {"privileges", growing, 1, 0},
	privilegesByDataspace: {"privileges_by_dataspace", mixed, 1, 0},
	privilegesByUser:      {"privileges_by_user", mixed, 1, 0},
	cascadesBucket:        {"steps", mixed, 1, 0},
	usageBucket:           {"usage", mixed, 1, 0},
	usageByDay:            {"usage_by_day", growing, 1, 0},
	blobsBucket:           {"blobs", mixed, 1, 0},
	blobRefs:              {"blob_refs", mixed, 1, 0},
	blobsDamaged:          {"blobs_damaged", mixed, 2, 0},
	bodiesBucket:          {"bodies", growing, 3, 0},
	sessionsBucket:        {"sessions", mixed, 4, 0},
	uploadsBucket:         {"transfers", growing, 5, 0},
	uploadsByEnd:          {"transfers_by_end", growing, 5, 0},
	uploadsByDigest:       {"transfers_by_digest", mixed, 5, 0},
	blobsUnreferenced:     {"blobs_unreferenced", mixed, 7, 0},
	versionsBucket:        {"versions", growing, 8, 0},
	versionRefs:           {"version_refs", mixed, 8, 9},
	auditBucket:           {"audit", growing, 9, 0},
	webhooksBucket:        {"webhooks", growing, 9, 0},
	deliveriesBucket:      {"deliveries", growing, 9, 0},
	descriptiveBucket:     {"descriptive", growing, 10, 0},
	schemasBucket:         {"schemas", growing, 11, 0},
	schemasByDataspace:    {"schemas_by_dataspace", growing, 11, 0},
	schemaVersionsBucket:  {"schema_versions", growing, 11, 0},
	editsBucket:           {"edits", growing, 11, 0},
	editsBySet:            {"edits_by_set", growing, 11, 0},
	editEntries:           {"edit_entries", growing, 11, 0},
	foldersBucket:         {"folders", mixed, 12, 0},
	filePropertiesBucket:  {"file_properties", growing, 12, 0},
	linksBucket:           {"links", growing, 12, 0},
	linksByDigest:         {"links_by_digest", mixed, 12, 0},
	linksByDataspace:      {"links_by_dataspace", growing, 12, 0},
	linksByOwner:          {"links_by_owner", growing, 12, 0},
	linkUsesBucket:        {"link_uses", growing, 12, 0},
	usageByUser:           {"usage_by_user", mixed, 12, 15},
	leasesBucket:          {"leases", mixed, 13, 0},
	nodesBucket:           {"nodes", mixed, 13, 0},
	blobsByObject:         {"blobs_by_object", growing, 14, 0},
	trashedBucket:         {"trashed", mixed, 14, 0},
	trashedByObject:       {"trashed_by_object", growing, 14, 0},
	usageByStorer:         {"usage_by_storer", mixed, 15, 0},
}

const (
	growing = 1.0
	mixed   = 0.5
)

// String returns the name of the bucket. Names are unique.
func (b Bucket) String() string { return buckets[b].name }

// Fill returns how full a page of the bucket should be when it splits, from 0.5 to 1.
func (b Bucket) Fill() float64 { return buckets[b].fill }

// In reports whether metadata of a schema version have the bucket.
func (b Bucket) In(version uint32) bool {
	until := buckets[b].until
	return buckets[b].since <= version && (until == 0 || version < until)
}
