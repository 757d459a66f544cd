package metadata

import (
	"errors"
	"fmt"

	"labshelf/formats/audit"
)

// AuditEntry is an entry of the audit log in its stored form.
type AuditEntry struct {
	Number         uint64 // from 0
	Leaf           []byte
	Completed      []audit.Hash // hashes of the subtrees that it completes
	Texts, Address audit.Sealed // zero if the leaf has none, or after their erasure
}

// Entry decodes the leaf. Its errors wrap ErrRecordDamaged.
func (e AuditEntry) Entry() (audit.Entry, error) {
	entry, err := audit.Parse(e.Leaf)
	if err != nil {
		err = fmt.Errorf("%w: entry %d of the audit log: %w", ErrRecordDamaged, e.Number, err)
	}
	return entry, err
}

// AuditLog is the table of the entries of the audit log. Entries are never removed.
type AuditLog interface {
	// State returns the number of entries and the values that the next one needs. It returns the
	// zero State for read-only metadata of a schema without a log.
	State() (audit.State, error)
	Get(number uint64) (AuditEntry, error)
	// Entry returns the decoded leaf of an entry, for followers of the log. It may return an entry
	// from the memory of this process.
	Entry(number uint64) (audit.Entry, error)
	// Append adds an entry at the end of the log. next is the state of the log with this entry.
	Append(e AuditEntry, next audit.State) error
	// Replace replaces an entry whose texts were erased.
	Replace(AuditEntry) error
}

// AuditTree is the Merkle tree of a log.
type AuditTree struct{ Log AuditLog }

// Node implements audit.Tree.
func (t AuditTree) Node(level int, number uint64) (audit.Hash, error) {
	e, err := t.Log.Get(number)
	if err != nil {
		return audit.Hash{}, err
	}
	return audit.NodeOf(e.Leaf, e.Completed, level)
}

// Log appends an entry to the audit log and returns its number. It seals the texts and the address,
// which may be "", with separate salts. Call it in the transaction of the change, after the last
// reason to refuse it.
func (tx *Tx) Log(e audit.Entry, texts, address string) (number uint64, err error) {
	row := AuditEntry{Texts: audit.Seal(texts), Address: audit.Seal(address)}
	e.Texts, e.Address = row.Texts.Digest(), row.Address.Digest()
	if row.Leaf, err = e.Leaf(); err != nil {
		return 0, err
	}
	before, err := tx.Audit.State()
	if err != nil {
		return 0, err
	}
	row.Number = before.Size
	completed, next := before.Append(row.Leaf)
	row.Completed = completed
	return row.Number, tx.Audit.Append(row, next)
}

// SignedHead is a head with its signature, as a note of several lines, and the public key that
// verifies it.
type SignedHead struct {
	audit.Head
	Signed, Key string
}

// SignHead signs the head of the log for the given number of first entries. secret is the secret of
// the repository. The caller must not publish the signature before the transaction's state is on
// stable storage. SignHead returns ErrNotFound if the log has fewer entries.
func (tx *Tx) SignHead(secret [32]byte, size uint64) (head SignedHead, err error) {
	signer, err := AuditSigner(secret)
	if err != nil {
		return head, err
	}
	present, err := tx.Audit.State()
	if err == nil && size > present.Size {
		err = fmt.Errorf("%w: the audit log has %d entries", ErrNotFound, present.Size)
	}
	epoch, failed := tx.Lineage.Epoch()
	if err = errors.Join(err, failed); err != nil {
		return head, err
	}
	origin := audit.Origin{Repository: IdentityOf(secret).String(), Epoch: epoch.ID.String()}
	head.Head, head.Key = audit.Head{Origin: origin, Size: size, Root: present.Root()}, signer.Key()
	if size < present.Size {
		head.Root, err = audit.Root(AuditTree{tx.Audit}, size)
	}
	if err == nil {
		head.Signed, err = signer.SignHead(head.Head)
	}
	return head, err
}

// SetEpoch begins an epoch in a transaction. The entry of the epoch in the audit log names the
// state that the epoch continues, and has the last stamp of that state.
func (tx *Tx) SetEpoch(epoch Epoch) error {
	log, err := tx.Audit.State()
	if err != nil {
		return err
	}
	last, err := tx.Lineage.LastStamp()
	if err != nil {
		return err
	}
	begun := audit.Epoch{ID: epoch.ID.String(), Base: int64(epoch.Base), Began: int64(epoch.Began), Size: log.Size, Root: log.Root()}
	if _, err := tx.Log(audit.Entry{Action: audit.EpochBegin, Stamp: int64(last), Values: begun.Values()}, "", ""); err != nil {
		return err
	}
	return tx.Lineage.Put(epoch)
}

// AuditSigner returns the signer of the log heads of the repository with this secret.
func AuditSigner(secret [32]byte) (*audit.Signer, error) {
	return audit.NewSigner(IdentityOf(secret).String(), [32]byte(derive(secret, auditInfo, 32)))
}

// auditInfo separates this use of the secret from others. It never changes.
const auditInfo = "labshelf audit key"
