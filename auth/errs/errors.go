// Package errs defines the only kind of error that use cases return. Its kind determines the HTTP
// status and the exit code; programs read its code.
package errs

import (
	"fmt"
)

// Kind classifies errors by what the caller can do about them. Each kind has one HTTP status and
// one exit code. The numbers are stored with refusals: they never change.
type Kind uint8

// The kinds. Internal is the zero value: an error without a kind.
const (
	Internal           Kind = iota // a fault of the service
	Invalid                        // the input breaks a rule
	Unauthenticated                // no valid key
	Forbidden                      // known, but not allowed
	NotFound                       // no such object
	Conflict                       // not possible in the current state
	Gone                           // existed, but no longer exists
	Precondition                   // the object does not have the version that the caller requested
	TooLarge                       // larger than a limit
	UnsupportedMedia               // not a supported content type
	MethodNotAllowed               // not possible for this object
	UnsatisfiableRange             // not a part of the file
	TimedOut                       // the caller stopped sending
	NoSpace                        // no space on the disk or in a quota
	Unavailable                    // temporarily unavailable
	Misdirected                    // meant for another service
	TooManyRequests                // too often, for now
	Locked                         // another request uses it
	ChecksumMismatch               // the content does not match its announced checksum
)

// Code tells programs the cause of an error. Codes never change their meaning;
// docs/reference/errors.md lists them.
type Code string

// The codes.
const (
	CodeInternal           Code = "internal"
	CodeOutcomeUnknown     Code = "outcome_unknown"
	CodeDataDamaged        Code = "data_damaged"
	CodeInvalidField       Code = "invalid_field"
	CodeMissingField       Code = "missing_field"
	CodeUnknownField       Code = "unknown_field"
	CodeInvalidBody        Code = "invalid_body"
	CodeInvalidParameter   Code = "invalid_parameter"
	CodeInvalidToken       Code = "invalid_page_token"
	CodeDigestMismatch     Code = "digest_mismatch"
	CodeKeyInURL           Code = "key_in_url"
	CodeUnauthenticated    Code = "unauthenticated"
	CodeTooManyFailures    Code = "too_many_failures"
	CodeTooManyRequests    Code = "too_many_requests"
	CodeMisdirected        Code = "misdirected"
	CodeForbidden          Code = "forbidden"
	CodeKeyRequired        Code = "key_required"
	CodeCrossOrigin        Code = "cross_origin"
	CodeNotFound           Code = "not_found"
	CodeDataspaceNotFound  Code = "dataspace_not_found"
	CodeSetNotFound        Code = "set_not_found"
	CodeResourceNotFound   Code = "resource_not_found"
	CodeUserNotFound       Code = "user_not_found"
	CodeKeyNotFound        Code = "key_not_found"
	CodeKeyEnded           Code = "key_ended"
	CodeKeyLimited         Code = "key_limited"
	CodePrivilegeNotFound  Code = "privilege_not_found"
	CodeBlobNotFound       Code = "blob_not_found"
	CodeUploadNotFound     Code = "upload_not_found"
	CodeUploadExpired      Code = "upload_expired"
	CodeOffset             Code = "offset_mismatch"
	CodeChecksum           Code = "checksum_mismatch"
	CodeLocked             Code = "locked"
	CodeTusVersion         Code = "unsupported_tus_version"
	CodeMethodNotAllowed   Code = "method_not_allowed"
	CodeReadOnlyField      Code = "read_only_field"
	CodeSetCannotMove      Code = "set_cannot_move"
	CodeResourceMove       Code = "resource_cannot_move"
	CodeSetNameTaken       Code = "set_name_taken"
	CodeDataspaceTaken     Code = "dataspace_name_taken"
	CodeUsernameTaken      Code = "username_taken"
	CodeParentDeleted      Code = "parent_deleted"
	CodeDeleted            Code = "deleted"
	CodePurged             Code = "purged"
	CodeBusy               Code = "busy"
	CodeLastSysadmin       Code = "last_sysadmin"
	CodeUserDeleted        Code = "user_deleted"
	CodeResourceGone       Code = "resource_deleted"
	CodeSetGone            Code = "set_deleted"
	CodeVersionNotFound    Code = "version_not_found"
	CodeAuditEntryNotFound Code = "audit_entry_not_found"
	CodeVersionUnkept      Code = "version_not_kept"
	CodeVersionRemoved     Code = "version_removed"
	CodeVersionPresent     Code = "version_present"
	CodePrecondition       Code = "precondition_failed"
	CodeTooLarge           Code = "too_large"
	CodeUnsupportedMedia   Code = "unsupported_media_type"
	CodeRange              Code = "range_not_satisfiable"
	CodeTimeout            Code = "request_timeout"
	CodeNoSpace            Code = "no_space"
	CodeQuotaExceeded      Code = "quota_exceeded"
	CodeReadOnly           Code = "read_only"
	CodeUnavailable        Code = "unavailable"
	CodeOverBudget         Code = "over_budget"
	CodeNewerSchema        Code = "newer_schema"
	CodeWebhookNotFound    Code = "webhook_not_found"
	CodeEditNotFound       Code = "edit_not_found"
	CodeDeliveryNotFound   Code = "delivery_not_found"
	CodeTooManyWebhooks    Code = "too_many_webhooks"
	CodeNothingToSkip      Code = "nothing_to_skip"
	CodeTooManyStreams     Code = "too_many_streams"
	CodeSchemaNotFound     Code = "schema_not_found"
	CodeSchemaNameTaken    Code = "schema_name_taken"
	CodeTooManySchemas     Code = "too_many_schemas"
	CodeLinkNotFound       Code = "link_not_found"
	CodeLinkEnded          Code = "link_ended"
	CodeLinkPassword       Code = "link_password"
	CodeTooManyVersions    Code = "too_many_versions"
	CodePathTaken          Code = "path_taken"
	CodeFolderWithin       Code = "folder_within"
)

// Codes returns every code, for the documents that list them and the tests that compare.
func Codes() []Code {
	return []Code{
		CodeInternal, CodeOutcomeUnknown, CodeDataDamaged, CodeInvalidField, CodeMissingField, CodeUnknownField,
		CodeInvalidBody, CodeInvalidParameter, CodeInvalidToken, CodeDigestMismatch, CodeKeyInURL, CodeUnauthenticated, CodeKeyRequired, CodeCrossOrigin,
		CodeForbidden, CodeNotFound, CodeDataspaceNotFound, CodeSetNotFound, CodeResourceNotFound, CodeUserNotFound,
		CodeKeyNotFound, CodeKeyEnded, CodeKeyLimited, CodePrivilegeNotFound, CodeBlobNotFound, CodeMethodNotAllowed, CodeReadOnlyField, CodeSetCannotMove,
		CodeResourceMove, CodeSetNameTaken, CodeDataspaceTaken, CodeUsernameTaken, CodeParentDeleted, CodeDeleted,
		CodePurged, CodeMisdirected, CodeTooManyFailures, CodeTooManyRequests, CodeBusy, CodeLastSysadmin, CodeUserDeleted, CodeResourceGone, CodeSetGone, CodePrecondition, CodeTooLarge,
		CodeUnsupportedMedia, CodeRange, CodeTimeout, CodeNoSpace, CodeQuotaExceeded, CodeReadOnly, CodeUnavailable, CodeOverBudget, CodeNewerSchema,
		CodeVersionNotFound, CodeAuditEntryNotFound, CodeVersionUnkept, CodeVersionRemoved, CodeVersionPresent, CodeUploadNotFound, CodeUploadExpired, CodeOffset, CodeChecksum, CodeLocked, CodeTusVersion,
		CodeSchemaNotFound, CodeSchemaNameTaken, CodeTooManySchemas, CodeLinkNotFound, CodeLinkEnded, CodeLinkPassword, CodeTooManyVersions, CodePathTaken, CodeFolderWithin,
		CodeWebhookNotFound, CodeEditNotFound, CodeDeliveryNotFound, CodeTooManyWebhooks, CodeNothingToSkip, CodeTooManyStreams,
	}
}

// Error is the only kind of error that use cases return. Message is public and never contains a
// path, a key or another error's text; Err is for the log.
type Error struct {
	Kind    Kind
	Code    Code
	Message string
	Field   string // the invalid field, part or parameter, or ""
	Err     error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }
