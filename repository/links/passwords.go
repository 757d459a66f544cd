package links

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"

	"labshelf/auth"
	"labshelf/auth/admission"
	"labshelf/auth/errs"
	"labshelf/metadata"
)

// People choose the passwords of links, so the passwords can be guessed. Each guess costs a tenth
// of a second of processor time. Guesses use at most one processor, and wait in a queue that is
// fair to links and to addresses: guesses at one link do not delay the visitors of another link.
// Visitors are never locked out.

const (
	passwordRounds  = 600_000 // of PBKDF2 with SHA-256, as OWASP recommends
	passwordForm    = "pbkdf2-sha256"
	passwordSalt    = 16 // bytes
	passwordDigests = sha256.Size

	maxGuesses    = 1    // at a time
	maxQueued     = 16   // requests of one caller; groups behind one address open a link together
	maxRemembered = 1000 // correct passwords, which programs send with each request
)

// passwords hashes and compares the passwords of links.
type passwords struct {
	queue *admission.Queue

	mu    sync.Mutex
	right map[[sha256.Size]byte]bool // keyed digests of links with their correct passwords
}

func newPasswords() *passwords {
	return &passwords{
		queue: admission.NewQueue(admission.Limits{Slots: maxGuesses, PerCaller: maxQueued}),
		right: map[[sha256.Size]byte]bool{},
	}
}

// queued calls fn once it is the caller's turn.
func (w *passwords) queued(ctx context.Context, c admission.Caller, fn func()) error {
	ticket, err := w.queue.Enter(c)
	if err != nil {
		return &errs.Error{Kind: errs.Unavailable, Code: errs.CodeOverBudget, Field: "password", Err: err,
			Message: "too many passwords from this address are being compared; try again after the time in Retry-After"}
	}
	defer ticket.Leave()
	if err := ticket.Acquire(ctx); err != nil {
		return err
	}
	fn()
	return nil
}

// remembers reports whether a digest belongs to a correct password.
func (w *passwords) remembers(digest [sha256.Size]byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.right[digest]
}

func (w *passwords) remember(digest [sha256.Size]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.right) >= maxRemembered {
		clear(w.right)
	}
	w.right[digest] = true
}

// hashFor returns the stored form of a password that a user sets. It waits in the queue of guesses.
func (s *Links) hashFor(ctx context.Context, p auth.Principal, password string) (hash string, err error) {
	if password == "" {
		return "", nil
	}
	err = s.passwords.queued(ctx, admission.User(p.UserID), func() { hash = hashPassword(password) })
	return hash, err
}

// hashPassword returns the stored form of a password, "" without one.
func hashPassword(password string) string {
	if password == "" {
		return ""
	}
	var salt [passwordSalt]byte
	rand.Read(salt[:]) // never fails
	text := base64.RawStdEncoding.EncodeToString
	return strings.Join([]string{passwordForm, strconv.Itoa(passwordRounds), text(salt[:]), text(stretched(password, salt[:], passwordRounds))}, "$")
}

func stretched(password string, salt []byte, rounds int) []byte {
	key, err := pbkdf2.Key(sha256.New, password, salt, rounds, passwordDigests)
	if err != nil {
		panic(err) // only if FIPS mode forbids it
	}
	return key
}

// isPassword reports whether a password matches the stored form.
func isPassword(stored, password string) bool {
	parts := strings.Split(stored, "$")
	if len(parts) != 4 || parts[0] != passwordForm {
		return false
	}
	rounds, err := strconv.Atoi(parts[1])
	salt, badSalt := base64.RawStdEncoding.DecodeString(parts[2])
	want, badKey := base64.RawStdEncoding.DecodeString(parts[3])
	return err == nil && badSalt == nil && badKey == nil && subtle.ConstantTimeCompare(stretched(password, salt, rounds), want) == 1
}

// Admit checks the password of a link, and returns a proof that the visitor can send
// instead. The proof is valid until the link ends or its password changes.
func (s *Visitors) Admit(ctx context.Context, v Visitor, password string) (proof string, err error) {
	var link metadata.Link
	err = s.visit(ctx, v, asked{open: true}, func(_ *metadata.Tx, found foundLink) error {
		link = found.Link
		return nil
	})
	if err != nil || link.Password == "" {
		return "", err
	}
	digest := s.links.guess(link, password)
	right := s.links.passwords.remembers(digest)
	if !right {
		c := admission.Address(v.Address) // all unknown addresses count as one caller
		c.Group = "link " + string(link.ID[:])
		if err := s.links.passwords.queued(ctx, c, func() { right = isPassword(link.Password, password) }); err != nil {
			return "", err
		}
	}
	if !right {
		return "", &errs.Error{Kind: errs.Unauthenticated, Code: errs.CodeLinkPassword, Field: "password", Message: "the password is not the password of this link"}
	}
	s.links.passwords.remember(digest)
	return s.links.proofOf(link), nil
}

// guess returns the digest of a password for a link, keyed with the secret of the repository.
func (s *Links) guess(l metadata.Link, password string) (digest [sha256.Size]byte) {
	mac := hmac.New(sha256.New, s.passwordKey(l))
	mac.Write([]byte(password))
	return [sha256.Size]byte(mac.Sum(nil))
}

// passwordKey returns the key for digests of guesses at the password of a link. It changes with the
// password.
func (s *Links) passwordKey(l metadata.Link) []byte {
	secret := s.core.Stores.Meta.Secret()
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte("guess at a link\x00"))
	mac.Write(l.ID[:])
	mac.Write([]byte(l.Password))
	return mac.Sum(nil)
}

// proofOf returns the proof that a visitor knew the password of a link.
func (s *Links) proofOf(l metadata.Link) string {
	secret := s.core.Stores.Meta.Secret()
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte("password of a link\x00"))
	mac.Write(l.ID[:])
	mac.Write([]byte(l.Password))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s *Links) proves(l metadata.Link, proof string) bool {
	return subtle.ConstantTimeCompare([]byte(proof), []byte(s.proofOf(l))) == 1
}
