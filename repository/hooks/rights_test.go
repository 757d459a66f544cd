package hooks_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/repositorytest"
	"labshelf/repository/watch"
)

// TestPauses: a webhook pauses if its receiver wants no more messages, if its user loses the role
// or is deleted, and if the repository is restored.
func TestPauses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause  func(w *world, user metadata.User, role metadata.Privilege)
		reason metadata.PauseReason
		sent   int

		entries int // number of entries about the pause; in a restored repository, the entry of the epoch replaces it
	}{
		"410": {func(w *world, _ metadata.User, _ metadata.Privilege) { w.to.answers["https://a"] = always(410) }, metadata.PausedByReceiver, 1, 1},
		"role lost": {func(w *world, _ metadata.User, role metadata.Privilege) {
			_, err := w.Service.Users.Revoke(w.T.Context(), w.Admin, role.ID.String(), repositorytest.Always)
			w.OK(err)
		}, metadata.PausedWithRole, 0, 1},
		"role less": {func(w *world, user metadata.User, _ metadata.Privilege) {
			_, _, err := w.Service.Users.Grant(w.T.Context(), w.Admin, containers.NewPrivilege{UserID: user.ID.String(), DataspaceID: w.Space.ID.String(), Role: auth.Editor})
			w.OK(err)
		}, metadata.PausedWithRole, 0, 1},
		"user deleted": {func(w *world, user metadata.User, _ metadata.Privilege) {
			_, err := w.Service.Users.Delete(w.T.Context(), w.Admin, user.ID.String(), repositorytest.Always)
			w.OK(err)
		}, metadata.PausedWithRole, 0, 1},
		"restored": {func(w *world, _ metadata.User, _ metadata.Privilege) {
			w.Service.Close()
			_, err := metadata.BeginEpoch(w.T.Context(), w.meta, time.Now())
			w.OK(err)
			w.Service = w.open()
		}, metadata.PausedByRestore, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				maker, user := w.member("maker")
				role, _, err := w.Service.Users.Grant(t.Context(), w.Admin, containers.NewPrivilege{UserID: user.ID.String(), DataspaceID: w.Space.ID.String(), Role: auth.Admin})
				w.OK(err)
				hook, err := w.Service.Webhooks.Create(t.Context(), maker, watch.NewWebhook{DataspaceID: new(w.Space.ID.String()), WebhookFields: watch.WebhookFields{URL: new("https://a"), Events: []string{"resource.*"}}})
				w.OK(err)
				c.cause(w, user, role)
				w.Upload(w.Sets[0], "1")
				synctest.Wait()
				got := w.now(hook)
				if got.PauseReason != c.reason || got.Paused == 0 || got.PausedBecause == "" || len(w.to.at("https://a")) != c.sent {
					t.Errorf("%d messages; the webhook is %+v", len(w.to.at("https://a")), got)
				}
				w.to.answers["https://a"] = nil
				_, err = w.Service.Webhooks.Resume(t.Context(), w.Admin, hook.ID.String())
				w.OK(err)
				synctest.Wait()
				if got, want := w.logged(hook), "webhook.create"+strings.Repeat(" webhook.pause", c.entries)+" webhook.resume"; got != want {
					t.Errorf("the log has %s, want %s", got, want)
				}
				if messages := w.to.at("https://a"); len(messages) != c.sent+1 || w.now(hook).Paused != 0 {
					t.Errorf("after an admin resumed it, it has sent %d messages", len(messages)-c.sent)
				}
			})
		})
	}
}

// logged returns the actions of the entries about a webhook.
func (w *world) logged(hook metadata.Webhook) string {
	var actions []string
	w.OK(w.meta.View(w.T.Context(), func(tx *metadata.Tx) error {
		log, err := tx.Audit.State()
		for n := uint64(0); n < log.Size && err == nil; n++ {
			var row metadata.AuditEntry
			if row, err = tx.Audit.Get(n); err != nil {
				return err
			}
			e, err := row.Entry()
			if err != nil {
				return err
			}
			if e.Object.ID == hook.ID {
				actions = append(actions, e.Action.String())
			}
		}
		return err
	}))
	return strings.Join(actions, " ")
}

// TestWebhookPermission requests the webhooks of a dataspace and of the service as different
// users.
func TestWebhookPermission(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx, space := t.Context(), w.Space.ID.String()
		own := w.hook("https://space")
		whole := w.hookFor("https://all", false, "resource.create")
		for role, mayOwn := range map[string]bool{"": false, "member": false, "editor": false, "admin": true} {
			p, user := w.member("user-" + role)
			if role != "" {
				_, _, err := w.Service.Users.Grant(ctx, w.Admin, containers.NewPrivilege{UserID: user.ID.String(), DataspaceID: space, Role: repositorytest.RoleOf(role)})
				w.OK(err)
			}
			may := map[metadata.ID]bool{own.ID: mayOwn, whole.ID: false}
			list, err := w.Service.Webhooks.List(ctx, p)
			w.OK(err)
			if len(list) > 1 || mayOwn != (len(list) == 1 && list[0].ID == own.ID) {
				t.Errorf("%q lists %d webhooks", role, len(list))
			}
			for _, hook := range []metadata.Webhook{own, whole} {
				id := hook.ID.String()
				calls := map[string]func() error{
					"get":    func() error { _, err := w.Service.Webhooks.Get(ctx, p, id); return err },
					"resume": func() error { _, err := w.Service.Webhooks.Resume(ctx, p, id); return err },
					"rotate": func() error { _, err := w.Service.Webhooks.Rotate(ctx, p, id); return err },
					"skip": func() error {
						_, err := w.Service.Webhooks.Skip(ctx, p, id, watch.Skip{All: true})
						return err
					},
					"deliveries": func() error { _, err := w.Service.Webhooks.ListDeliveries(ctx, p, id); return err },
					"update": func() error {
						_, err := w.Service.Webhooks.Update(ctx, p, id, watch.WebhookFields{Label: new("of " + role)}, core.Match{})
						return err
					},
					"create": func() error {
						f := watch.NewWebhook{WebhookFields: watch.WebhookFields{URL: new("https://new")}}
						if hook.DataspaceID != (metadata.ID{}) {
							f.DataspaceID = &space
						}
						made, err := w.Service.Webhooks.Create(ctx, p, f)
						if err == nil {
							err = w.Service.Webhooks.Delete(ctx, p, made.ID.String())
						}
						return err
					},
				}
				for name, call := range calls {
					err := call()
					var refusal *errs.Error
					refused := errors.As(err, &refusal) && refusal.Code == errs.CodeForbidden
					if refused == may[hook.ID] || !refused && err != nil {
						t.Errorf("%q, %s of %s: %v", role, name, hook.URL, err)
					}
				}
				if !may[hook.ID] {
					_, err := w.Service.Webhooks.RepeatDelivery(ctx, p, id, "0")
					w.Refused(err, errs.CodeForbidden)
					w.Refused(w.Service.Webhooks.Delete(ctx, p, id), errs.CodeForbidden)
				}
			}
		}
	})
}

func TestWebhookFields(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		space := w.Space.ID.String()
		refused := []watch.WebhookFields{{URL: new("")}, {URL: new("https://refused")}, {Label: new(strings.Repeat("x", 101))}, {Events: slices.Repeat([]string{"set.*"}, 51)}}
		for _, pattern := range []string{"*", ".*", "", "resource", "resource.fly", "nothing.*"} {
			refused = append(refused, watch.WebhookFields{Events: []string{pattern}})
		}
		for _, fields := range refused {
			made := watch.NewWebhook{DataspaceID: &space, WebhookFields: fields}
			made.URL = cmp.Or(fields.URL, new("https://a"))
			_, err := w.Service.Webhooks.Create(ctx, w.Admin, made)
			w.Refused(err, errs.CodeInvalidField)
			hook := w.hook("https://a")
			_, err = w.Service.Webhooks.Update(ctx, w.Admin, hook.ID.String(), fields, core.Match{})
			w.Refused(err, errs.CodeInvalidField)
			if got := w.now(hook); got != hook {
				t.Errorf("the refused change %+v changed %+v to %+v", fields, hook, got)
			}
			w.OK(w.Service.Webhooks.Delete(ctx, w.Admin, hook.ID.String()))
		}
		_, err := w.Service.Webhooks.Create(ctx, w.Admin, watch.NewWebhook{DataspaceID: &space})
		w.Refused(err, errs.CodeMissingField)
		_, err = w.Service.Webhooks.Create(ctx, w.Admin, watch.NewWebhook{DataspaceID: new("x"), WebhookFields: watch.WebhookFields{URL: new("https://a")}})
		w.Refused(err, errs.CodeDataspaceNotFound)
		_, err = w.Service.Webhooks.Get(ctx, w.Admin, w.Space.ID.String())
		w.Refused(err, errs.CodeWebhookNotFound)
	})
}
