package metadata

// Webhook is a target of messages about changes. It follows the audit log and stores its position
// there.
type Webhook struct {
	Record                // ModifiedBy is the user it acts for: messages contain what that user may see. A webhook is removed, never Deleted.
	DataspaceID   ID      // dataspace of its changes; zero: the whole service
	URL, Label    string  // Label "": none
	Events        string  // patterns of event kinds, separated by spaces; "": all
	Secret        string  // secret that signs messages, in the form of receivers
	FormerSecret  string  // former secret, which also signs messages until FormerUntil
	FormerUntil   Stamp   // 0: no former secret
	Position      uint64  // number of the first unprocessed entry
	Epoch         EpochID // epoch of that entry
	Deliveries    uint64  // number of processed messages, and the number of the next one
	Tries         uint32  // attempts of the current delivery
	NextTry       Stamp   // next attempt of the current delivery, by the clock; 0: immediately
	Paused        Stamp   // time of the pause; 0: not paused
	PauseReason   PauseReason
	PausedBecause string // cause of the pause, for people
	Entry         uint64 // number of the last audit log entry about it
	MadeWith      ID     // key of the user it acts for: revoking the key pauses the webhook; zero: none
}

// PauseReason is the reason why a webhook is paused. The numbers are stored and never change.
type PauseReason uint8

// The reasons of a pause.
const (
	NotPaused        PauseReason = 0
	PausedByFailure  PauseReason = 1 // the last attempt failed
	PausedByReceiver PauseReason = 2 // the receiver answered 410
	PausedWithRole   PauseReason = 3 // the user it acts for lost the permission to have it
	PausedByRestore  PauseReason = 4 // the repository was restored to an older state, or is a copy
	PausedWithKey    PauseReason = 5 // the key that created it has ended
)

// String returns the name of the reason in the API, or "".
func (r PauseReason) String() string {
	switch r {
	case PausedByFailure:
		return "failed"
	case PausedByReceiver:
		return "gone"
	case PausedWithRole:
		return "role_lost"
	case PausedByRestore:
		return "restored"
	case PausedWithKey:
		return "key_ended"
	}
	return ""
}

// Delivery is one message to the receiver of a webhook, and its result. Each webhook keeps its last
// MaxDeliveries.
type Delivery struct {
	WebhookID   ID
	Number      uint64 // from 0, for each webhook
	Entry       uint64 // number of the audit log entry that it reports
	MessageID   string // visible to the receiver; the same for all attempts
	Event       string // kind
	Tries       uint32
	First, Last Stamp // first and last attempt, by the clock
	Status      int64 // HTTP status of the last attempt; 0: no answer
	Micros      int64 // duration of the last attempt, in µs
	Error       string
	Answer      string // beginning of the body
	Skipped     bool   // skipped manually before it was delivered
}

// MaxDeliveries is the number of deliveries that are kept for each webhook.
const MaxDeliveries = 200

// Delivered reports whether the receiver accepted the message at the last attempt.
func (d Delivery) Delivered() bool { return d.Status >= 200 && d.Status <= 299 }

// DeliveryKey identifies one delivery.
type DeliveryKey struct {
	Webhook ID
	Number  uint64
}

// Key is the key of the delivery.
func (d Delivery) Key() DeliveryKey { return DeliveryKey{d.WebhookID, d.Number} }

// Deliveries is the table of deliveries.
type Deliveries interface {
	Table[DeliveryKey, Delivery]
	Backwards[DeliveryKey, Delivery]
}

// pauseWebhooks pauses every active webhook, because a copy of a repository must not call the
// receivers of the original.
func pauseWebhooks(tx *Tx, now Stamp) error {
	var sending []Webhook
	for hook, err := range tx.Webhooks.All(ID{}) {
		if err != nil {
			return err
		}
		if hook.Paused == 0 {
			sending = append(sending, hook)
		}
	}
	for _, hook := range sending {
		hook.Paused, hook.PauseReason, hook.PausedBecause = now, PausedByRestore, "the repository was restored"
		if err := tx.Webhooks.Put(hook); err != nil {
			return err
		}
	}
	return nil
}
