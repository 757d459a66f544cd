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
	usageByUser // only in schema 14: bytes of the resources that a user has created
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
	name string
	fill float64
	in   versions
}{
	metaBucket:            {"meta", mixed, always},
	dataspacesBucket:      {"dataspaces", growing, always},
	dataspaceNames:        {"dataspace_names", mixed, always},
	dataspacesPublic:      {"dataspaces_public", growing, always},
	setsBucket:            {"sets", growing, always},
	setNames:              {"set_names", mixed, always},
	setsByState:           {"sets_by_state", growing, always},
	setsByDataspace:       {"sets_by_dataspace", growing, always},
	resourcesBucket:       {"resources", growing, always},
	resourcesByTime:       {"resources_by_time", growing, always},
	resourcesByDataspace:  {"resources_by_dataspace", growing, always},
	resourcesBySet:        {"resources_by_set", growing, always},
	resourcesByName:       {"resources_by_name", mixed, always},
	usersBucket:           {"users", growing, always},
	usernames:             {"usernames", mixed, always},
	keysBucket:            {"keys", mixed, always},
	keysByUser:            {"keys_by_user", mixed, always},
	privilegesBucket:      {"privileges", growing, always},
	privilegesByDataspace: {"privileges_by_dataspace", mixed, always},
	privilegesByUser:      {"privileges_by_user", mixed, always},
	cascadesBucket:        {"steps", mixed, always},
	usageBucket:           {"usage", mixed, always},
	usageByDay:            {"usage_by_day", growing, always},
	blobsBucket:           {"blobs", mixed, always},
	blobRefs:              {"blob_refs", mixed, always},
	blobsDamaged:          {"blobs_damaged", mixed, always},
	bodiesBucket:          {"bodies", growing, always},
	sessionsBucket:        {"sessions", mixed, always},
	uploadsBucket:         {"transfers", growing, always},
	uploadsByEnd:          {"transfers_by_end", growing, always},
	uploadsByDigest:       {"transfers_by_digest", mixed, always},
	blobsUnreferenced:     {"blobs_unreferenced", mixed, always},
	versionsBucket:        {"versions", growing, always},
	auditBucket:           {"audit", growing, always},
	webhooksBucket:        {"webhooks", growing, always},
	deliveriesBucket:      {"deliveries", growing, always},
	descriptiveBucket:     {"descriptive", growing, always},
	schemasBucket:         {"schemas", growing, always},
	schemasByDataspace:    {"schemas_by_dataspace", growing, always},
	schemaVersionsBucket:  {"schema_versions", growing, always},
	editsBucket:           {"edits", growing, always},
	editsBySet:            {"edits_by_set", growing, always},
	editEntries:           {"edit_entries", growing, always},
	foldersBucket:         {"folders", mixed, always},
	filePropertiesBucket:  {"file_properties", growing, always},
	linksBucket:           {"links", growing, always},
	linksByDigest:         {"links_by_digest", mixed, always},
	linksByDataspace:      {"links_by_dataspace", growing, always},
	linksByOwner:          {"links_by_owner", growing, always},
	linkUsesBucket:        {"link_uses", growing, always},
	usageByUser:           {"usage_by_user", mixed, until(15)},
	leasesBucket:          {"leases", mixed, always},
	nodesBucket:           {"nodes", mixed, always},
	blobsByObject:         {"blobs_by_object", growing, always},
	trashedBucket:         {"trashed", mixed, always},
	trashedByObject:       {"trashed_by_object", growing, always},
	usageByStorer:         {"usage_by_storer", mixed, since(15)},
}

// versions are the schema versions that have a bucket.
type versions struct {
	since uint32 // version that added it; 0: it is older than Oldest
	until uint32 // version that removed it; 0: it still exists
}

var always = versions{}

func since(version uint32) versions { return versions{since: version} }
func until(version uint32) versions { return versions{until: version} }

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
	in := buckets[b].in
	return in.since <= version && (in.until == 0 || version < in.until)
}
