package wire

// Paused is the State of a webhook that sends nothing.
const Paused = "paused"

// Webhook is where messages about changes go.
type Webhook struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"` // where it sends
	Label       string   `json:"label"`
	DataspaceID string   `json:"dataspaceId,omitempty"` // "": it is sent all changes of the service
	Events      []string `json:"events"`                // kinds, such as resource.create or resource.*; empty: everything
	MadeWith    string   `json:"madeWith,omitempty"`    // id of the key with which it pauses; "": none
	State       string   `json:"state"`                 // Active or Paused
	History
	Reason            string `json:"reason,omitempty"`  // why it is paused: failed, gone, role_lost, key_ended or restored
	Because           string `json:"because,omitempty"` // the cause, for people
	Paused            Time   `json:"paused,omitzero"`
	Position          uint64 `json:"position"`   // number of the first entry of the audit log that it has not dealt with
	Deliveries        uint64 `json:"deliveries"` // how many messages it has dealt with
	Tries             uint32 `json:"tries"`      // of the message that waits
	NextTry           Time   `json:"nextTry,omitzero"`
	FormerSecretUntil Time   `json:"formerSecretUntil,omitzero"`
}

// SecretWebhook is a webhook with its secret, which the service does not show again.
type SecretWebhook struct {
	Webhook
	Secret string `json:"secret"` // whsec_…
}

// NewWebhook is a webhook to be created. Only URL is needed.
type NewWebhook struct {
	URL         string   `json:"url"`
	DataspaceID string   `json:"dataspaceId,omitempty"` // "": all changes of the service, for sysadmins
	Events      []string `json:"events,omitempty"`
	Label       string   `json:"label,omitempty"` // up to 100 characters
}

// WebhookEdit changes a webhook; nil fields stay.
type WebhookEdit struct {
	URL    *string   `json:"url,omitempty"`
	Events *[]string `json:"events,omitempty"`
	Label  *string   `json:"label,omitempty"`
}

// WebhookSkip lets a webhook pass over the message that failed, or over everything up to now.
type WebhookSkip struct {
	All bool `json:"all"`
}

// Delivery is one message of a webhook, and what came of it.
type Delivery struct {
	Number       uint64 `json:"number"` // from 0, for each webhook
	MessageID    string `json:"messageId"`
	Entry        uint64 `json:"entry"` // of the audit log
	Event        string `json:"event"`
	State        string `json:"state"` // delivered, failed or skipped
	Tries        uint32 `json:"tries"`
	First        Time   `json:"first"`
	Last         Time   `json:"last"`
	Status       int    `json:"status"` // of the last answer; 0: none came
	Milliseconds int64  `json:"milliseconds"`
	Error        string `json:"error,omitempty"`
	Answer       string `json:"answer,omitempty"` // its beginning
}
