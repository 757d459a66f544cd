package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

const (
	secretPrefix  = "whsec_"
	secretBytes   = 32 // of a new secret
	shortest      = 24 // minimum bytes of a secret, by Standard Webhooks
	longest       = 64
	signedVersion = "v1," // HMAC-SHA256
)

// NewSecret returns a secret of 32 random bytes in the form that receivers use: whsec_ and base64.
func NewSecret() string {
	secret := make([]byte, secretBytes)
	rand.Read(secret) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// ErrSecret reports that a text is not a secret of Standard Webhooks.
var ErrSecret = errors.New("not whsec_ and the base64 of 24 to 64 bytes")

func decodeSecret(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(secret) < shortest || len(secret) > longest {
		return nil, ErrSecret
	}
	return secret, nil
}

// sign returns the value of webhook-signature: one signature for each secret, separated by spaces,
// so that a receiver with any of the secrets can verify it. It signs id.seconds.body; seconds is
// the value of webhook-timestamp.
func sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	signatures := make([]string, len(secrets))
	for i, text := range secrets {
		secret, err := decodeSecret(text)
		if err != nil {
			return "", err
		}
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures[i] = signedVersion + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " "), nil
}
