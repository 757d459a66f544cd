package audit

import "strings"

// Action is the kind of change in an entry. The numbers are hashed, so they never change.
type Action uint8

// The actions.
const (
	EpochBegin Action = 1 // the log begins, or continues after older metadata were restored
	Refuse     Action = 2 // requests were rejected; the entry has their number in one minute
	Erase      Action = 3 // the texts of an entry were erased

	DataspaceCreate  Action = 10
	DataspaceUpdate  Action = 11
	DataspaceDelete  Action = 12
	DataspaceRestore Action = 13

	SetCreate  Action = 20
	SetUpdate  Action = 21
	SetDelete  Action = 22
	SetRestore Action = 23

	ResourceCreate  Action = 30
	ResourceReplace Action = 31
	ResourceEdit    Action = 32
	ResourceDelete  Action = 33
	ResourceRestore Action = 34
	ResourcePurge   Action = 35
	ResourceCopy    Action = 36 // a new file was copied from another one, or from a version of another one; the entry names the source
	ResourceMove    Action = 37 // like ResourceCopy, and the source was deleted at the same time; its deletion names this entry

	VersionRestore Action = 40
	VersionLabel   Action = 41
	VersionErase   Action = 42
	VersionPurge   Action = 43

	UserCreate  Action = 50
	UserUpdate  Action = 51
	UserDelete  Action = 52
	UserRestore Action = 53

	KeyCreate Action = 60
	KeyRevoke Action = 61
	KeyUpdate Action = 62

	SessionBegin Action = 70
	SessionEnd   Action = 71

	PrivilegeGrant  Action = 80
	PrivilegeRevoke Action = 81

	WebhookCreate Action = 100
	WebhookUpdate Action = 101
	WebhookDelete Action = 102
	WebhookRotate Action = 103 // of its secret
	WebhookPause  Action = 104
	WebhookResume Action = 105
	WebhookSkip   Action = 106

	SchemaCreate  Action = 110
	SchemaUpdate  Action = 111
	SchemaDelete  Action = 112
	SchemaRestore Action = 113

	EditBegin Action = 120 // a bulk edit began; the entries of its files name it
	EditUndo  Action = 121 // a bulk edit began that undoes another one; the entries of its files name it

	LinkCreate Action = 130
	LinkUpdate Action = 131
	LinkTake   Action = 132 // another user became the owner
	LinkRevoke Action = 133

	PurgeRun Action = 90 // a purge began, with its user and options; the entries of the removed objects name it
)

// words are the actions in the API.
var words = map[Action]string{
	EpochBegin: "epoch.begin", Refuse: "request.refuse", Erase: "audit.erase",
	DataspaceCreate: "dataspace.create", DataspaceUpdate: "dataspace.update", DataspaceDelete: "dataspace.delete", DataspaceRestore: "dataspace.restore",
	SetCreate: "set.create", SetUpdate: "set.update", SetDelete: "set.delete", SetRestore: "set.restore",
	ResourceCreate: "resource.create", ResourceReplace: "resource.replace", ResourceEdit: "resource.edit", ResourceDelete: "resource.delete",
	ResourceRestore: "resource.restore", ResourcePurge: "resource.purge", ResourceCopy: "resource.copy", ResourceMove: "resource.move",
	VersionRestore: "version.restore", VersionLabel: "version.label", VersionErase: "version.erase", VersionPurge: "version.purge",
	UserCreate: "user.create", UserUpdate: "user.update", UserDelete: "user.delete", UserRestore: "user.restore",
	KeyCreate: "key.create", KeyRevoke: "key.revoke", KeyUpdate: "key.update",
	SessionBegin: "session.begin", SessionEnd: "session.end",
	PrivilegeGrant: "privilege.grant", PrivilegeRevoke: "privilege.revoke",
	PurgeRun:      "purge.run",
	WebhookCreate: "webhook.create", WebhookUpdate: "webhook.update", WebhookDelete: "webhook.delete", WebhookRotate: "webhook.rotate",
	WebhookPause: "webhook.pause", WebhookResume: "webhook.resume", WebhookSkip: "webhook.skip",
	SchemaCreate: "schema.create", SchemaUpdate: "schema.update", SchemaDelete: "schema.delete", SchemaRestore: "schema.restore",
	EditBegin: "edit.begin", EditUndo: "edit.undo",
	LinkCreate: "link.create", LinkUpdate: "link.update", LinkTake: "link.take", LinkRevoke: "link.revoke",
}

// String returns the word of the API, or "" for an action of a later version.
func (a Action) String() string { return words[a] }

// ParseAction parses a word of the API.
func ParseAction(word string) (Action, bool) {
	for a, w := range words {
		if w == word {
			return a, true
		}
	}
	return 0, false
}

// Known reports whether a pattern is the word of an action, or all actions of a noun, such as
// resource.*
func Known(pattern string) bool {
	if _, ok := ParseAction(pattern); ok {
		return true
	}
	kind, all := strings.CutSuffix(pattern, ".*")
	for _, word := range words {
		if all && kind != "" && strings.HasPrefix(word, kind+".") {
			return true
		}
	}
	return false
}
