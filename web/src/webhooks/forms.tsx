// The dialogs of webhooks: the settings, and the secret.
import { useRef } from "preact/hooks";
import type { Webhook } from "../api";
import { dataspaces, privileges, webhooks } from "../api";
import { useMe } from "../session";
import { Button, Copy, ErrorMessage, Skeleton } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { Field, Form } from "../ui/form";
import { useLoad } from "../ui/load";

/** The display name. */
export const nameOf = (w: Webhook) => w.label || w.url;

/** The dataspaces that the user manages. */
function useManaged() {
  const me = useMe();
  return useLoad(async (signal) => {
    const { items } = await dataspaces.list().all(1000, signal);
    if (me.sysadmin) return items;
    const roles = await privileges.list({ userId: "me", state: "active" }).all(1000, signal);
    const managed = new Set(roles.items.filter((p) => p.role === "admin").map((p) => p.dataspaceId));
    return items.filter((d) => managed.has(d.id));
  }, [me.id]);
}

/** Creates a webhook, or changes `was`. */
export function WebhookForm({ was, done, cancel }: { was?: Webhook; done: (w: Webhook) => void; cancel: () => void }) {
  const me = useMe();
  const { value: managed, problem, reload } = useManaged();
  const url = useRef<HTMLInputElement>(null);
  const label = useRef<HTMLInputElement>(null);
  const events = useRef<HTMLInputElement>(null);
  const dataspace = useRef<HTMLSelectElement>(null);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!managed) return <Skeleton lines={6} />;
  const submit = async () => {
    const fields = { url: url.current!.value.trim(), label: label.current!.value, events: events.current!.value.split(/[\s,]+/).filter(Boolean) };
    if (was) return done(await webhooks.edit(was.id, fields));
    const dataspaceId = dataspace.current!.value;
    done(await webhooks.create(dataspaceId ? { ...fields, dataspaceId } : fields));
  };
  return (
    <Form action={was ? "Save" : "Create webhook"} submit={submit} onCancel={cancel}>
      {(errorOf) => (
        <>
          <Field label="URL" hint="The URL that receives the messages. The operator decides which hosts are allowed." error={errorOf("url")}>
            {(a) => <input ref={url} type="url" required autofocus spellcheck={false} defaultValue={was?.url} {...a} />}
          </Field>
          {!was && (
            <Field label="Changes of" error={errorOf("dataspaceId")}>
              {(a) => (
                <select ref={dataspace} required={!me.sysadmin} {...a}>
                  {me.sysadmin && <option value="">everything</option>}
                  {managed.map((d) => (
                    <option key={d.id} value={d.id}>
                      {d.title || d.name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )}
          <Field label="Kinds" hint="Such as resource.* set.create. Empty: all kinds." error={errorOf("events")}>
            {(a) => <input ref={events} spellcheck={false} autocomplete="off" defaultValue={was?.events.join(" ")} {...a} />}
          </Field>
          <Field label="Label" hint="A name for the receiver, such as “pipeline”." error={errorOf("label")}>
            {(a) => <input ref={label} defaultValue={was?.label} {...a} />}
          </Field>
          {was && <p class="hint">Saving makes you the owner of the webhook: it pauses if you lose the role.</p>}
        </>
      )}
    </Form>
  );
}

/** Shows a secret, once. */
export function SecretDialog({ of: w, close }: { of: Webhook; close: () => void }) {
  return (
    <Dialog title={`Secret of ${nameOf(w)}`} onClose={close} stays>
      <p>
        The secret is shown only once. The receiver uses it to verify that messages come from this service.
        {w.formerSecretUntil && " For 24 hours messages are signed with the former secret, too."}
      </p>
      <p class="secret">
        <code>{w.secret}</code>
        <Copy text={w.secret!} what="the secret">
          Copy
        </Copy>
      </p>
      <div class="actions">
        <Button kind="primary" onClick={close}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
