package input

import (
	"maps"

	"labshelf/repository/watch"
)

func webhookFields(in *watch.WebhookFields) members {
	return members{"url": text(&in.URL), "label": text(&in.Label), "events": texts(&in.Events)}
}

// NewWebhook decodes url, and the optional dataspaceId, label and events.
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

// WebhookEdit decodes the changeable fields of a webhook. It ignores derived fields, so that a
// client can send back a webhook that it read earlier.
func WebhookEdit(f Object, shown Shown) (in watch.WebhookFields) {
	f = maps.Clone(f)
	for _, field := range []string{"state", "reason", "because", "paused", "position", "deliveries", "tries", "nextTry", "formerSecretUntil"} {
		delete(f, field)
	}
	in.Malformed = webhookFields(&in).edit(f, shown, readOnly)
	return in
}

// Skip decodes the optional all.
func Skip(f Object) (in watch.Skip) {
	all := new(bool)
	in.Malformed = members{"all": truth(&all)}.read(f)
	in.All = *all
	return in
}
