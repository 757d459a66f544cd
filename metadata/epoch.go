package metadata

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Identity names a repository: its data directory, all backups of it, and all data directories
// restored from them. It is public, and does not reveal the secret from which it is derived.
type Identity [16]byte

// identityInfo separates this use of the secret from others. It never changes.
const identityInfo = "labshelf repository identity"

// IdentityOf derives the identity from the secret of the metadata. So metadata that are older than
// identities have one, too.
func IdentityOf(secret [32]byte) Identity {
	return Identity(derive(secret, identityInfo, len(Identity{})))
}

// derive returns bytes that are derived from the secret for one use. They do not reveal it.
func derive(secret [32]byte, use string, length int) []byte {
	key, err := hkdf.Key(sha256.New, secret[:], nil, use, length)
	if err != nil {
		panic("metadata: HKDF cannot derive the identity: " + err.Error())
	}
	return key
}

// String returns 32 hexadecimal digits, or "" for the zero Identity, which no repository has.
func (i Identity) String() string { return hexText(i) }

// MarshalText returns String.
func (i Identity) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText parses the result of String.
func (i *Identity) UnmarshalText(text []byte) error { return readHexText((*[16]byte)(i), text) }

// EpochID is the random, permanent name of an epoch.
type EpochID [16]byte

// String returns 32 hexadecimal digits, or "" for the zero EpochID.
func (id EpochID) String() string { return hexText(id) }

// MarshalText returns String.
func (id EpochID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText parses the result of String.
func (id *EpochID) UnmarshalText(text []byte) error { return readHexText((*[16]byte)(id), text) }

// Epoch is a period in which the metadata of a repository only moved forward. Each restoration
// begins another epoch, which lacks the changes that older epochs made after Base. So between two
// states with different epochs, stamps alone do not show whether one continues the other. The zero
// Epoch belongs to metadata that are older than epochs.
type Epoch struct {
	ID    EpochID
	Base  Stamp // last stamp of the state with which the epoch began; stamps of the epoch are greater
	Began Stamp // beginning of the epoch, by the clock
}

// NewEpoch returns an epoch that continues a state whose last stamp is base.
func NewEpoch(base Stamp, now time.Time) Epoch {
	e := Epoch{Base: base, Began: Stamp(now.UnixMicro())}
	rand.Read(e.ID[:]) // never fails
	return e
}

// Continues reports whether the state at stamp, in an epoch of the same repository, is an ancestor
// of this epoch: a state of the epoch itself, or one that another epoch had reached by Base.
func (e Epoch) Continues(other EpochID, stamp Stamp) bool { return e.ID == other || stamp <= e.Base }

// BeginEpoch ends the epoch of the metadata and begins another one, which is on stable storage when
// the function returns. It pauses webhooks. It is called when the metadata are restored to an older
// state. It returns the errors of Update.
func BeginEpoch(ctx context.Context, meta Writer, now time.Time) (epoch Epoch, err error) {
	err = meta.Update(ctx, func(tx *Tx) error {
		last, err := tx.Lineage.LastStamp()
		if err != nil {
			return err
		}
		epoch = NewEpoch(last, now)
		if err := pauseWebhooks(tx, epoch.Began); err != nil {
			return err
		}
		return tx.SetEpoch(epoch)
	})
	return epoch, err
}

func hexText(id [16]byte) string {
	if id == ([16]byte{}) {
		return ""
	}
	return hex.EncodeToString(id[:])
}

func readHexText(id *[16]byte, text []byte) error {
	*id = [16]byte{}
	if len(text) == 0 {
		return nil
	}
	if len(text) != hex.EncodedLen(len(id)) {
		return fmt.Errorf("%q has not %d hexadecimal digits", text, hex.EncodedLen(len(id)))
	}
	_, err := hex.Decode(id[:], text)
	return err
}
