package wire

import "labshelf/auth/errs"

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Type      string    `json:"type"`
	Title     string    `json:"title"`
	Status    int       `json:"status"`
	Detail    string    `json:"detail"`          // for people
	Code      errs.Code `json:"code"`            // for programs
	Field     string    `json:"field,omitempty"` // the invalid part of the request
	RequestID string    `json:"requestId"`
}

// Status is the status of a service. D is the type of its details, a StatusDetail, which only
// sysadmins receive.
type Status[D any] struct {
	Status    string `json:"status"` // OK, READ-ONLY or FAILING
	Hostname  string `json:"hostname"`
	Node      string `json:"node"`   // "" from older services, like Engine
	Engine    string `json:"engine"` // metadata store: bolt or postgres
	Version   string `json:"version"`
	Anonymous bool   `json:"anonymous"` // open data can be read without a key
	Detail    D      `json:"detail,omitzero"`
}

// StatusDetail is the part of the status for sysadmins.
type StatusDetail struct {
	Failing      string            `json:"failing"`
	ReadOnly     string            `json:"readOnly"`
	ClockBehind  int64             `json:"clockBehind"` // ms
	Damaged      int64             `json:"damaged"`     // number of damaged files
	Scrub        Scrub             `json:"scrub"`
	Background   map[string]string `json:"background"` // errors of background tasks, by task
	Held         FileCount         `json:"held"`       // inline bodies
	Started      Time              `json:"started"`
	Identity     string            `json:"identity"`
	Epoch        RepositoryEpoch   `json:"epoch"`
	Unreferenced FileCount         `json:"unreferenced"`
	Room         Room              `json:"room"`
	Nodes        []Node            `json:"nodes"`
}

// Scrub is the progress of the scrubber.
type Scrub struct {
	Begun   Time  `json:"begun"`
	Checked int64 `json:"checked"`
	Found   int64 `json:"found"`
	Passes  int64 `json:"passes"`
}

// RepositoryEpoch is the period since a repository was created or restored.
type RepositoryEpoch struct {
	ID    string `json:"id"`
	Base  Time   `json:"base"` // time of the restored state; zero: not restored
	Began Time   `json:"began"`
}

// FileCount is a number of files and their bytes.
type FileCount struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Room is the remaining capacity.
type Room struct {
	Bytes int64 `json:"bytes"` // -1: unknown
	Files int64 `json:"files"` // -1: unknown or unlimited
}

// Node is one of the nodes that share the metadata.
type Node struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Since   Time   `json:"since"`
	Seen    Time   `json:"seen"`
}
