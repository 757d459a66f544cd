package webhooks_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/internal/testhome"
	"labshelf/repository/webhooks"
)

func TestMain(m *testing.M) { testhome.Main(m) }

func TestPauses(t *testing.T) {
	t.Parallel()
	var sum time.Duration
	for tries := 1; tries < webhooks.MaxTries; tries++ {
		pause, ok := webhooks.Pause(tries, webhooks.Answer{})
		longer, _ := webhooks.Pause(tries, webhooks.Answer{RetryAfter: 30 * 24 * time.Hour})
		if !ok || pause <= 0 || longer < 24*time.Hour || longer > 40*time.Hour {
			t.Errorf("after %d tries: %v, %t; if the receiver requests a month: %v", tries, pause, ok, longer)
		}
		sum += pause
	}
	if webhooks.MaxTries != 10 || sum < 64*time.Hour || sum > 80*time.Hour {
		t.Errorf("%d tries in %v, want 10 in three days", webhooks.MaxTries, sum)
	}
	if _, ok := webhooks.Pause(webhooks.MaxTries, webhooks.Answer{}); ok {
		t.Error("another try follows the last one")
	}
}

func TestSendWithoutASecret(t *testing.T) {
	t.Parallel()
	to := receive(t, func(http.ResponseWriter, *http.Request) { t.Error("a message was sent without a signature") })
	for _, secret := range []string{"", "whsec_", "whsec_AAAA", "whsec_" + strings.Repeat("A", 88), "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		m := message(to)
		m.Secrets = []string{secret}
		if a := newSender(t, webhooks.Config{}, "127.0.0.1").Send(t.Context(), m); a.Status != 0 || a.Err != webhooks.ErrSecret.Error() {
			t.Errorf("secret %q: %+v", secret, a)
		}
	}
}

// verify verifies a message as docs/reference/webhook-messages.md describes. Its arguments are a
// secret, the three headers, and the file with the body.
const verify = `
import sys
from standardwebhooks import Webhook
secret, id, timestamp, signature, body = sys.argv[1:]
headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
print(Webhook(secret).verify(open(body, "rb").read(), headers)["type"])
`

// TestStandardWebhooksVerifies sends messages with one secret and with two. It verifies them with
// each secret, using the package from PyPI. The package refuses a changed body and an unknown
// secret.
func TestStandardWebhooksVerifies(t *testing.T) {
	t.Parallel()
	python := standardWebhooks(t)
	former, present := webhooks.NewSecret(), webhooks.NewSecret()
	type received struct {
		header http.Header
		body   string
	}
	messages := make(chan received, 1)
	to := receive(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- received{r.Header, string(body)}
	})
	sender := newSender(t, webhooks.Config{}, "127.0.0.1")
	for _, secrets := range [][]string{{present}, {present, former}} {
		m := message(to)
		m.Secrets, m.Body = secrets, []byte(`{"type":"resource.create","data":{"name":"Ä.csv"}}`)
		if a := sender.Send(t.Context(), m); !a.Delivered() {
			t.Fatalf("answer %+v", a)
		}
		got := <-messages
		for secret, wanted := range map[string]bool{present: true, former: len(secrets) == 2, webhooks.NewSecret(): false} {
			for change, unchanged := range map[string]bool{"": true, " ": false} {
				path := filepath.Join(t.TempDir(), "body.json")
				if err := os.WriteFile(path, []byte(got.body+change), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command(python, "-c", verify, secret, got.header.Get("webhook-id"), got.header.Get("webhook-timestamp"), got.header.Get("webhook-signature"), path).CombinedOutput()
				verified := err == nil && string(out) == "resource.create\n"
				if verified != (wanted && unchanged) || !verified && !strings.Contains(string(out), "No matching signature found") {
					t.Errorf("%d secrets, known secret: %t, body unchanged: %t: verified %t\n%s", len(secrets), wanted, unchanged, verified, out)
				}
			}
		}
	}
}

// standardWebhooks returns a Python that has the package.
func standardWebhooks(t *testing.T) (python string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "venv")
	python = filepath.Join(folder, "bin", "python")
	for _, command := range [][]string{
		{"python3", "-m", "venv", folder},
		{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "standardwebhooks==1.1.0"},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			missing := fmt.Sprintf("%s: %v\n%s", strings.Join(command, " "), err, out)
			if os.Getenv("CI") == "true" {
				t.Fatal(missing)
			}
			t.Skip("the messages are not verified by another implementation: ", missing)
		}
	}
	return python
}
