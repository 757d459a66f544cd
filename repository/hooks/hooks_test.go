package hooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/repositorytest"
	"labshelf/repository/watch"
	"labshelf/repository/webhooks"
)

// receivers are the receivers of the webhooks, in a bubble where waiting takes no real time. Each
// responds as configured.
type receivers struct {
	mu      sync.Mutex
	got     map[string][]webhooks.Message
	answers map[string]func(n int) webhooks.Answer // response to the nth message to a URL, from 1; nil means 200
	stalls  map[string]chan struct{}               // receivers that stall until their channel is closed
}

func newReceivers() *receivers {
	return &receivers{got: map[string][]webhooks.Message{}, answers: map[string]func(int) webhooks.Answer{}, stalls: map[string]chan struct{}{}}
}

func (r *receivers) CheckURL(_ context.Context, url string) error {
	if strings.Contains(url, "refused") {
		return webhooks.ErrRefused
	}
	return nil
}

func (r *receivers) Send(ctx context.Context, m webhooks.Message) webhooks.Answer {
	r.mu.Lock()
	r.got[m.URL] = append(r.got[m.URL], m)
	n, answer, stall := len(r.got[m.URL]), r.answers[m.URL], r.stalls[m.URL]
	r.mu.Unlock()
	if stall != nil {
		select {
		case <-stall:
		case <-ctx.Done():
			return webhooks.Answer{Err: ctx.Err().Error()}
		}
	}
	if answer == nil {
		return webhooks.Answer{Status: 200}
	}
	return answer(n)
}

// at returns the messages that a URL has received.
func (r *receivers) at(url string) []webhooks.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got[url])
}

func always(status int) func(int) webhooks.Answer {
	return func(int) webhooks.Answer { return webhooks.Answer{Status: status} }
}

// event is a decoded message.
type event struct {
	Type string
	Data struct {
		Number                         uint64
		DataspaceID, SetID, UserID, ID string
		Object                         struct{ Kind, ID string }
		SHA256                         string
		Bytes, Version                 uint64
		Head                           string
	}
}

func eventsOf(t *testing.T, messages []webhooks.Message) (events []event) {
	t.Helper()
	for _, m := range messages {
		var e event
		if err := json.Unmarshal(m.Body, &e); err != nil {
			t.Fatal(err)
		}
		if id, number, _ := strings.Cut(m.ID, "."); len(id) != 32 || number != fmt.Sprint(e.Data.Number) {
			t.Errorf("message %s is about entry %d", m.ID, e.Data.Number)
		}
		events = append(events, e)
	}
	return events
}

// world is a repository with receivers.
type world struct {
	*repositorytest.World
	meta *metadatatest.Memory
	to   *receivers
}

// inBubble runs a test with a repository whose only set is empty.
func inBubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{meta: metadatatest.NewMemory(time.Now), to: newReceivers()}
		w.World = repositorytest.NewWorld(t, w.open(), 0)
		defer func() { w.Service.Close() }()
		test(t, w)
	})
}

func (w *world) open() *repository.Service {
	return repository.New(w.meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10, Webhooks: w.to})
}

// restart closes the service, and opens it again over the same metadata.
func (w *world) restart() {
	w.Service.Close()
	w.Service = w.open()
}

// hook creates a webhook of the dataspace for created resources.
func (w *world) hook(url string) metadata.Webhook {
	w.T.Helper()
	return w.hookFor(url, true, "resource.create")
}

// hookFor creates a webhook of the dataspace, or of the service, for these events, or for all
// events if none are given.
func (w *world) hookFor(url string, ofSpace bool, events ...string) metadata.Webhook {
	w.T.Helper()
	f := watch.NewWebhook{WebhookFields: watch.WebhookFields{URL: &url, Events: events}}
	if ofSpace {
		f.DataspaceID = new(w.Space.ID.String())
	}
	hook, err := w.Service.Webhooks.Create(w.T.Context(), w.Admin, f)
	w.OK(err)
	return hook
}

// now returns the present state of a webhook.
func (w *world) now(hook metadata.Webhook) metadata.Webhook {
	w.T.Helper()
	hook, err := w.Service.Webhooks.Get(w.T.Context(), w.Admin, hook.ID.String())
	w.OK(err)
	return hook
}

func TestMessagesFollowChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.Upload(w.Sets[0], "before")
		hook := w.hook("https://a")
		r := w.Upload(w.Sets[0], "file")
		synctest.Wait()
		messages := w.to.at("https://a")
		events := eventsOf(t, messages)
		if len(events) != 1 {
			t.Fatalf("%d messages, want 1", len(events))
		}
		e := events[0]
		if e.Type != "resource.create" || e.Data.Object.ID != r.ID.String() || e.Data.Object.Kind != "resource" || e.Data.SetID != r.SetID.String() ||
			e.Data.DataspaceID != w.Space.ID.String() || e.Data.UserID != w.Admin.UserID.String() || e.Data.SHA256 != r.Digest.String() || e.Data.Bytes != 4 || e.Data.Version != 1 {
			t.Errorf("the body is %s", messages[0].Body)
		}
		if !strings.HasPrefix(e.Data.Head, "labshelf/") || strings.Split(e.Data.Head, "\n")[1] != fmt.Sprint(e.Data.Number+1) {
			t.Errorf("its head is %q", e.Data.Head)
		}
		if strings.Contains(string(messages[0].Body), "file") || !slices.Equal(messages[0].Secrets, []string{hook.Secret}) {
			t.Errorf("it contains a name, or is signed by %q", messages[0].Secrets)
		}
		if got := w.now(hook); got.Deliveries != 1 || got.Tries != 0 || got.Position != e.Data.Number+1 {
			t.Errorf("the webhook is %+v", got)
		}
	})
}

// TestKindsAndContainers: a webhook of a dataspace receives only its kinds of events in that
// dataspace. A webhook of the service receives all events.
func TestKindsAndContainers(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.hookFor("https://space", true)
		w.hookFor("https://sets", true, "set.*", "resource.delete")
		w.hookFor("https://all", false)
		other, err := w.Service.Dataspaces.Create(t.Context(), w.Admin, containers.NewDataspace{Name: "other"})
		w.OK(err)
		_, err = w.Service.Sets.Create(t.Context(), w.Admin, containers.NewSet{Name: "elsewhere", DataspaceID: other.ID.String()})
		w.OK(err)
		r := w.Upload(w.Sets[0], "file")
		_, err = w.Service.Files.Delete(t.Context(), w.Admin, r.ID.String(), repositorytest.Always)
		w.OK(err)
		_, err = w.Service.Sets.Create(t.Context(), w.Admin, containers.NewSet{Name: "here", DataspaceID: w.Space.ID.String()})
		w.OK(err)
		synctest.Wait()
		for url, want := range map[string]string{
			"https://space": "webhook.create webhook.create resource.create resource.delete set.create",
			"https://sets":  "resource.delete set.create",
			"https://all":   "webhook.create dataspace.create privilege.grant set.create resource.create resource.delete set.create",
		} {
			var kinds []string
			for _, e := range eventsOf(t, w.to.at(url)) {
				kinds = append(kinds, e.Type)
			}
			if got := strings.Join(kinds, " "); url != "https://space" && got != want || url == "https://space" && !strings.HasSuffix(got, strings.TrimPrefix(want, "webhook.create ")) {
				t.Errorf("%s received %s, want %s", url, got, want)
			}
		}
	})
}

// TestTriesAndPause: a message that is not accepted is tried ten times in three days, under one id,
// and delays the following messages. Then the webhook pauses, also across a restart. After it is
// resumed, it continues with that message.
func TestTriesAndPause(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.to.answers["https://a"] = always(500)
		hook := w.hook("https://a")
		w.Upload(w.Sets[0], "1")
		begun := time.Now()
		synctest.Wait()
		w.Upload(w.Sets[0], "2")
		time.Sleep(24 * time.Hour)
		w.restart()
		time.Sleep(9 * 24 * time.Hour)
		messages := w.to.at("https://a")
		for _, m := range messages {
			if m.ID != messages[0].ID || string(m.Body) != string(messages[0].Body) {
				t.Errorf("message %s follows %s", m.ID, messages[0].ID)
			}
		}
		got := w.now(hook)
		if len(messages) != 10 || got.PauseReason != metadata.PausedByFailure || got.Position > eventsOf(t, messages)[0].Data.Number || got.Deliveries != 0 || !strings.Contains(got.PausedBecause, "500") {
			t.Fatalf("%d messages; the webhook is %+v", len(messages), got)
		}
		if took := got.Paused.Time().Sub(begun); took < 64*time.Hour || took > 81*time.Hour {
			t.Errorf("it paused after %v", took)
		}
		w.restart()
		time.Sleep(time.Hour)
		if n := len(w.to.at("https://a")); n != 10 {
			t.Errorf("while paused, it has sent %d messages", n-10)
		}
		w.to.mu.Lock()
		w.to.answers["https://a"] = nil
		w.to.mu.Unlock()
		_, err := w.Service.Webhooks.Resume(t.Context(), w.Admin, hook.ID.String())
		w.OK(err)
		synctest.Wait()
		if events := eventsOf(t, w.to.at("https://a")); len(events) != 12 || events[10].Data.Number != events[0].Data.Number || events[11].Data.Number <= events[10].Data.Number {
			t.Errorf("after it was resumed, it has sent %+v", events[10:])
		}
		list, err := w.Service.Webhooks.ListDeliveries(t.Context(), w.Admin, hook.ID.String())
		w.OK(err)
		if len(list) != 2 || list[0].Number != 1 || list[0].Tries != 1 || list[1].Tries != 11 || !list[1].Delivered() {
			t.Errorf("deliveries %+v", list)
		}
	})
}

// TestOneReceiverDelaysNoOther: while one receiver stalls and one fails, the others receive all
// messages immediately.
func TestOneReceiverDelaysNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.to.stalls["https://stalls"] = make(chan struct{})
		w.to.answers["https://fails"] = always(503)
		for _, name := range []string{"stalls", "fails", "a", "b"} {
			w.hook("https://" + name)
		}
		for i := range 50 {
			w.Upload(w.Sets[0], fmt.Sprint(i))
		}
		synctest.Wait()
		for url, want := range map[string]int{"https://a": 50, "https://b": 50, "https://stalls": 1, "https://fails": 1} {
			if got := len(w.to.at(url)); got != want {
				t.Errorf("%s has %d messages, want %d", url, got, want)
			}
		}
		close(w.to.stalls["https://stalls"])
		synctest.Wait()
		events := eventsOf(t, w.to.at("https://stalls"))
		if len(events) != 50 || !slices.IsSortedFunc(events, func(a, b event) int { return int(a.Data.Number) - int(b.Data.Number) }) {
			t.Errorf("%d messages, in order: %v", len(events), events)
		}
	})
}

// TestRetryAfter: a receiver that requests a pause of an hour gets no message during that
// time.
func TestRetryAfter(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.to.answers["https://a"] = func(n int) webhooks.Answer {
			if n == 1 {
				return webhooks.Answer{Status: 429, RetryAfter: time.Hour}
			}
			return webhooks.Answer{Status: 204}
		}
		w.hook("https://a")
		w.Upload(w.Sets[0], "1")
		time.Sleep(59 * time.Minute)
		w.Upload(w.Sets[0], "2")
		w.restart()
		synctest.Wait()
		if n := len(w.to.at("https://a")); n != 1 {
			t.Errorf("%d messages within the hour", n)
		}
		time.Sleep(2 * time.Minute)
		if n := len(w.to.at("https://a")); n != 3 {
			t.Errorf("%d messages after the hour, want 3", n)
		}
	})
}

// member creates a user without a role.
func (w *world) member(name string) (auth.Principal, metadata.User) {
	w.T.Helper()
	user, err := w.Service.Users.Create(w.T.Context(), w.Admin, containers.NewUser{Username: name})
	w.OK(err)
	_, key, err := w.Service.Users.CreateKey(w.T.Context(), w.Admin, user.ID.String(), containers.KeyFields{})
	w.OK(err)
	p, err := w.Service.Credentials.Authenticate(w.T.Context(), key, auth.Origin{})
	w.OK(err)
	return p, user
}

// TestDeliveriesAreBounded: the last 200 deliveries are kept, until the webhook is removed.
func TestDeliveriesAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		hook := w.hook("https://a")
		for i := range metadata.MaxDeliveries + 5 {
			w.Upload(w.Sets[0], fmt.Sprint(i))
		}
		synctest.Wait()
		list, err := w.Service.Webhooks.ListDeliveries(t.Context(), w.Admin, hook.ID.String())
		w.OK(err)
		if len(list) != metadata.MaxDeliveries || list[0].Number != metadata.MaxDeliveries+4 || list[len(list)-1].Number != 5 {
			t.Errorf("%d deliveries, from %d to %d", len(list), list[0].Number, list[len(list)-1].Number)
		}
		w.OK(w.Service.Webhooks.Delete(t.Context(), w.Admin, hook.ID.String()))
		w.OK(w.meta.View(t.Context(), func(tx *metadata.Tx) error {
			for d, err := range tx.Deliveries.Before(metadata.DeliveryKey{Webhook: hook.ID, Number: 1 << 62}) {
				t.Errorf("delivery %d still exists: %v", d.Number, err)
			}
			return nil
		}))
		w.Upload(w.Sets[0], "last")
		synctest.Wait()
		if n := len(w.to.at("https://a")); n != metadata.MaxDeliveries+5 {
			t.Errorf("after it was removed, it has sent %d messages", n)
		}
	})
}

// TestRotation: messages are signed with both secrets for a day.
func TestRotation(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		hook := w.hook("https://a")
		rotated, err := w.Service.Webhooks.Rotate(t.Context(), w.Admin, hook.ID.String())
		w.OK(err)
		w.Upload(w.Sets[0], "1")
		time.Sleep(24 * time.Hour)
		w.Upload(w.Sets[0], "2")
		synctest.Wait()
		messages := w.to.at("https://a")
		if len(messages) != 2 || !slices.Equal(messages[0].Secrets, []string{rotated.Secret, hook.Secret}) || !slices.Equal(messages[1].Secrets, []string{rotated.Secret}) {
			t.Errorf("signed by %q", messages)
		}
	})
}
