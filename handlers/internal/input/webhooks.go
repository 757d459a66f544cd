package input

import (
	"maps"

	"labshelf/repository/watch"
)

func webhookFields(in *watch.WebhookFields) members {
	return members{"url": text(&in.URL), "label": text(&in.Label), "events": texts(&in.Events)}
}

// NewWebhook decodes url, and optional dataspaceId, label and events.
func NewWebhook(f Object) (in watch.NewWebhook, err error) {
	if id, named := f["dataspaceId"]; named {
		if err := text(&in.DataspaceID)("dataspaceId", id); err != nil {
			return in, err
		}
	}
	if _, in.Malformed = required(f, "url"); in.Malformed == nil {
		in.Malformed = webhookFields(&in.WebhookFields).read(f, "dataspaceId")
	}
	return in, nil
}

// WebhookEdit decodes the fields of a webhook that can be changed. It ignores fields that change
// without an edit, so that a client can send back the webhook that it read a moment ago.
func WebhookEdit(f Object, shown Shown) (in watch.WebhookFields) {
	f = maps.Clone(f)
	for _, field := range []string{"state", "reason", "because", "paused", "position", "deliveries", "tries", "nextTry", "formerSecretUntil"} {
		delete(f, field)
	}
	in.Malformed = webhookFields(&in).edit(f, shown, readOnly)
	return in
}

// Skip decodes optional all.
func Skip(f Object) (in watch.Skip) {
	all := new(bool)
	in.Malformed = members{"all": truth(&all)}.read(f)
	in.All = *all
	return in
}
