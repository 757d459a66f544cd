package repository

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

	"labshelf/errs"
	"labshelf/metadata"
)

// The passwords of links. People choose them, so that they can be guessed: each guess costs a tenth of a second of a processor, of which guesses use
// one at most, and nobody is locked out.

const (
	passwordRounds  = 600_000 // of PBKDF2 with SHA-256, as OWASP has it
	passwordForm    = "pbkdf2-sha256"
	passwordSalt    = 16 // bytes
	maxGuesses      = 1  // at the same time
	passwordDigests = sha256.Size
)

// hashPassword returns what is stored of a password; "" of none.
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
		panic(err) // only where FIPS forbids it
	}
	return key
}

// isPassword tells whether a password is the one that is stored.
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

// AdmitVisitor compares the password of a link, and returns the proof that a visitor then sends instead. It ends with the link, and with
// the password.
func (s *Service) AdmitVisitor(ctx context.Context, v Visitor, password string) (proof string, err error) {
	var link metadata.Link
	err = s.visit(ctx, v, asked{open: true}, func(_ *metadata.Tx, found visited) error {
		link = found.Link
		return nil
	})
	if err != nil || link.Password == "" {
		return "", err
	}
	select {
	case s.guesses <- struct{}{}:
		defer func() { <-s.guesses }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if !isPassword(link.Password, password) {
		return "", &errs.Error{Kind: errs.Unauthenticated, Code: errs.CodeLinkPassword, Field: "password", Message: "this is not the password of this link"}
	}
	return s.proofOf(link), nil
}

// proofOf shows that somebody knew the password of a link.
func (s *Service) proofOf(l metadata.Link) string {
	secret := s.stores.Meta.Secret()
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte("password of a link\x00"))
	mac.Write(l.ID[:])
	mac.Write([]byte(l.Password))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s *Service) proves(l metadata.Link, proof string) bool {
	return subtle.ConstantTimeCompare([]byte(proof), []byte(s.proofOf(l))) == 1
}
