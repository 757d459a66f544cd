package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Head is the state of the log at one size. A signed head that is stored elsewhere proves that the
// first Size entries have not changed since.
type Head struct {
	Origin Origin
	Size   uint64
	Root   Hash
}

// Origin identifies a log: the repository, and the epoch in which the head was signed, both in 32
// hexadecimal digits.
type Origin struct{ Repository, Epoch string }

const originPrefix = "labshelf/"

// String returns the first line of a head.
func (o Origin) String() string { return originPrefix + o.Repository + "/" + o.Epoch }

// text returns the signed text: the origin, the size and the root, one a line, as in a checkpoint
// of C2SP's tlog-checkpoint.
func (h Head) text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", h.Origin, h.Size, base64.StdEncoding.EncodeToString(h.Root[:]))
}

// ErrHead means that a text is not a head, or is not signed with the key.
var ErrHead = errors.New("not a head with a valid signature")

// Signer signs the heads of one repository.
type Signer struct {
	verifier note.Verifier
	public   string
	key      ed25519.PrivateKey
}

// NewSigner returns the signer of a repository, with a private key made from 32 bytes.
func NewSigner(repository string, seed [32]byte) (*Signer, error) {
	key := ed25519.NewKeyFromSeed(seed[:])
	public, err := note.NewEd25519VerifierKey(originPrefix+repository, key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return &Signer{verifier, public, key}, nil
}

// Key returns the public key in the form of golang.org/x/mod/sumdb/note: name, hash and key, each
// after a plus sign.
func (s *Signer) Key() string { return s.public }

// Name implements note.Signer.
func (s *Signer) Name() string { return s.verifier.Name() }

// KeyHash implements note.Signer.
func (s *Signer) KeyHash() uint32 { return s.verifier.KeyHash() }

// Sign implements note.Signer.
func (s *Signer) Sign(text []byte) ([]byte, error) { return ed25519.Sign(s.key, text), nil }

// SignHead returns the head with its signature, as a note of several lines.
func (s *Signer) SignHead(h Head) (string, error) {
	signed, err := note.Sign(&note.Note{Text: h.text()}, s)
	return string(signed), err
}

// ParseHead parses a head that is signed with the public key. The error wraps ErrHead.
func ParseHead(signed, key string) (h Head, err error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return h, fmt.Errorf("%w: the key: %w", ErrHead, err)
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		return h, fmt.Errorf("%w: %w", ErrHead, err)
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 {
		return h, fmt.Errorf("%w: it must have three lines", ErrHead)
	}
	repository, epoch, ok := strings.Cut(strings.TrimPrefix(lines[0], originPrefix), "/")
	h.Origin = Origin{repository, epoch}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if !ok || err != nil || copy(h.Root[:], root) != len(root) {
		return h, fmt.Errorf("%w: invalid origin or root", ErrHead)
	}
	h.Size, err = strconv.ParseUint(lines[1], 10, 63)
	if err != nil || h.text() != opened.Text {
		return h, fmt.Errorf("%w: the text is not in labshelf's form", ErrHead)
	}
	return h, nil
}
