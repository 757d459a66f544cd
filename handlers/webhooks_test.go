package handlers_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWebhook creates a webhook for a dataspace, and follows its messages to the receiver.
func TestWebhook(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	type received struct {
		header http.Header
		body   string
	}
	messages := make(chan received, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- received{r.Header, string(body)}
	}))
	t.Cleanup(receiver.Close)
	made := s.send("POST", "/webhooks", object{"url": receiver.URL + "/x", "dataspaceId": s.dataspace, "events": []string{"set.*"}, "label": "pipeline"}).want(http.StatusCreated)
	hook := made.object()
	path := "/webhooks/" + hook.text("id")
	same(t, "Location", made.header.Get("Location"), s.base+path)
	same(t, "Cache-Control", made.header.Get("Cache-Control"), "no-store")
	same(t, "secret", strings.HasPrefix(hook.text("secret"), "whsec_"), true)
	s.upload(s.newSet(), "a.txt", "content")
	got := <-messages
	same(t, "event", strings.Contains(got.body, `"type":"set.create"`) && strings.Contains(got.body, s.dataspace), true)
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		same(t, name+" is there", got.header.Get(name) != "", true)
	}
	for _, read := range []*answer{s.get(path), s.get("/webhooks"), s.send("PUT", path, s.get(path).object()), s.send("POST", path+"/resume", nil), s.get(path + "/deliveries")} {
		same(t, "a later answer has the secret", strings.Contains(string(read.want(http.StatusOK).body), "whsec_"), false)
	}
	rotated := s.send("POST", path+"/rotate", nil).want(http.StatusOK).object()
	same(t, "another secret", strings.HasPrefix(rotated.text("secret"), "whsec_") && rotated.text("secret") != hook.text("secret"), true)
	s.newSet()
	got = <-messages
	same(t, "number of signatures", len(strings.Fields(got.header.Get("Webhook-Signature"))), 2)
	s.send("POST", path+"/skip", nil).problem(http.StatusConflict, "nothing_to_skip", "")
	s.send("PUT", path, object{"dataspaceId": "other"}).problem(http.StatusConflict, "read_only_field", "dataspaceId")
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	s.get(path).problem(http.StatusNotFound, "webhook_not_found", "")
}

// TestInvalidWebhooks tests that the error for an invalid webhook names the field.
func TestInvalidWebhooks(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	s.bad("POST", "/webhooks", object{"url": "http://10.0.0.1/", "dataspaceId": s.dataspace}).problem(http.StatusBadRequest, "invalid_field", "url")
	detail := s.bad("POST", "/webhooks", object{"url": "https://hooks.invalid/", "dataspaceId": s.dataspace}).object().text("detail")
	same(t, "the refusal names the setting", strings.Contains(detail, "webhook_hosts"), true)
	s.send("POST", "/webhooks", object{"url": nowhere, "dataspaceId": "x"}).problem(http.StatusNotFound, "dataspace_not_found", "dataspaceId")
	s.send("DELETE", "/dataspaces/"+s.dataspace, nil).want(http.StatusNoContent)
	s.send("POST", "/webhooks", object{"url": nowhere, "dataspaceId": s.dataspace}).problem(http.StatusConflict, "parent_deleted", "dataspaceId")
}
