package wire

// Paused is the State of a webhook that sends nothing.
const Paused = "paused"

// Webhook is a subscription to changes, delivered by HTTP requests.
type Webhook struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"` // target of the requests
	Label       string   `json:"label"`
	DataspaceID string   `json:"dataspaceId,omitempty"` // "": all changes of the service
	Events      []string `json:"events"`                // kinds such as resource.create or resource.*; empty: all
	MadeWith    string   `json:"madeWith,omitempty"`    // id of the key whose end pauses the webhook; "": none
	State       string   `json:"state"`                 // Active or Paused
	History
	Reason            string `json:"reason,omitempty"`  // reason of the pause: failed, gone, role_lost, key_ended or restored
	Because           string `json:"because,omitempty"` // cause of the pause, for people
	Paused            Time   `json:"paused,omitzero"`
	Position          uint64 `json:"position"`   // number of the first unprocessed entry of the audit log
	Deliveries        uint64 `json:"deliveries"` // number of processed messages
	Tries             uint32 `json:"tries"`      // attempts for the pending message
	NextTry           Time   `json:"nextTry,omitzero"`
	FormerSecretUntil Time   `json:"formerSecretUntil,omitzero"`
}

// SecretWebhook is a webhook with its secret, which the service shows only once.
type SecretWebhook struct {
	Webhook
	Secret string `json:"secret"` // whsec_…
}

// NewWebhook describes a webhook to create. Only URL is required.
type NewWebhook struct {
	URL         string   `json:"url"`
	DataspaceID string   `json:"dataspaceId,omitempty"` // "": all changes of the service, only for sysadmins
	Events      []string `json:"events,omitempty"`
	Label       string   `json:"label,omitempty"` // up to 100 characters
}

// WebhookEdit changes a webhook; nil fields stay unchanged.
type WebhookEdit struct {
	URL    *string   `json:"url,omitempty"`
	Events *[]string `json:"events,omitempty"`
	Label  *string   `json:"label,omitempty"`
}

// WebhookSkip skips the failed message of a webhook, or all messages up to now.
type WebhookSkip struct {
	All bool `json:"all"`
}

// Delivery is one message of a webhook and its result.
type Delivery struct {
	Number       uint64 `json:"number"` // from 0, for each webhook
	MessageID    string `json:"messageId"`
	Entry        uint64 `json:"entry"` // entry of the audit log
	Event        string `json:"event"`
	State        string `json:"state"` // delivered, failed or skipped
	Tries        uint32 `json:"tries"`
	First        Time   `json:"first"`
	Last         Time   `json:"last"`
	Status       int    `json:"status"` // HTTP status of the last answer; 0: no answer
	Milliseconds int64  `json:"milliseconds"`
	Error        string `json:"error,omitempty"`
	Answer       string `json:"answer,omitempty"` // beginning of the answer
}
