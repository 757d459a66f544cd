package metadata

// Webhook is where messages about changes go. It reads the order of changes, and keeps its position
// there.
type Webhook struct {
	Record                // ModifiedBy is for whom it acts: the messages say what that user may see. It is removed, never Deleted.
	DataspaceID   ID      // whose changes it hears of; zero: of all changes of the service
	URL, Label    string  // "": no label
	Events        string  // patterns of the kinds it hears of, with a space between; "": all
	Secret        string  // by which messages are signed, as receivers have it
	FormerSecret  string  // by which they are signed, too, up to FormerUntil
	FormerUntil   Stamp   // 0: there is none
	Position      uint64  // number of the first entry that it has not dealt with
	Epoch         EpochID // of that entry
	Deliveries    uint64  // how many it has dealt with, which is the number of the next one
	Tries         uint32  // of the delivery under way
	NextTry       Stamp   // of the delivery under way, by the clock; 0: at once
	Paused        Stamp   // since when it sends nothing; 0: it sends
	PauseReason   PauseReason
	PausedBecause string // what was the matter, for people
	Entry         uint64 // number of the last entry of the audit log about it
	MadeWith      ID     // key of the user for whom it acts, with which it pauses; zero: it pauses by itself
}

// PauseReason is why a webhook sends nothing. The numbers are stored: they never change.
type PauseReason uint8

// The reasons.
const (
	NotPaused        PauseReason = 0
	PausedByFailure  PauseReason = 1 // the last try failed
	PausedByReceiver PauseReason = 2 // the receiver answered 410
	PausedWithRole   PauseReason = 3 // the user for whom it acts may not have it any more
	PausedByRestore  PauseReason = 4 // the repository was put back to an older state, or is a copy
	PausedWithKey    PauseReason = 5 // the key that it was made with has ended
)

// String returns the reason as the interface writes it; "" where there is none.
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

// Delivery is one message to the receiver of a webhook, and what came of it. The last MaxDeliveries
// of each webhook are kept.
type Delivery struct {
	WebhookID   ID
	Number      uint64 // from 0, for each webhook
	Entry       uint64 // number of the entry that it is about
	MessageID   string // which the receiver sees; the same for all tries
	Event       string // kind
	Tries       uint32
	First, Last Stamp // of the tries, by the clock
	Status      int64 // of HTTP, of the last try; 0: no answer came
	Micros      int64 // which the last try took, in µs
	Error       string
	Answer      string // the beginning of its body
	Skipped     bool   // by hand, before it was delivered
}

// MaxDeliveries is how many deliveries of a webhook are kept.
const MaxDeliveries = 200

// Delivered tells whether the receiver took the message at the last try.
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

// pauseWebhooks pauses every webhook that sends: a copy of a repository must not call the receivers
// of the original.
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
