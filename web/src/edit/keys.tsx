// The keys of a user: on the page of their account, and for sysadmins in the list of users.
import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Key, User } from "../api";
import { users } from "../api";
import { useMe } from "../session";
import { Badge, Button, Copy, Empty, ErrorMessage, Skeleton, Time } from "../ui/components";
import { ConfirmButton, Dialog } from "../ui/dialog";
import { Field, Form } from "../ui/form";
import { useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";

/** The keys of a user. A closed list offers no new ones. */
export function Keys({ of, closed = false }: { of: User; closed?: boolean }) {
  const uid = of.id;
  const own = uid === useMe().id;
  const { value, problem, reload, refresh } = useLoad((signal) => users.keys(uid, { limit: 1000 }).all(1000, signal), [uid]);
  useRefreshOnFocus(refresh);
  const keys = value?.items ?? [];
  const nameOf = (kid: string) => {
    const maker = keys.find((k) => k.id === kid);
    return maker?.label || (maker ? `${maker.prefix}…` : kid);
  };
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<Key | undefined>();
  const close = () => {
    setCreating(false);
    setCreated(undefined);
  };
  return (
    <section class="sheet">
      <div class="title">
        <div>
          <h2>{own ? "Your keys" : "Keys"}</h2>
          <p class="dim">
            {closed
              ? "The keys do not work: the user is deleted."
              : "A key gives a browser, a script or an instrument access. Create one for each, so that each can be revoked separately."}
          </p>
        </div>
        {!closed && (
          <Button icon="key" onClick={() => setCreating(true)}>
            New key
          </Button>
        )}
      </div>
      {problem && <ErrorMessage problem={problem} retry={reload} />}
      {!value && !problem && <Skeleton />}
      {keys.length === 0 && value && <Empty icon="key" title="No keys" />}
      {keys.length > 0 && (
        <table class="plain">
          <thead>
            <tr>
              <th>Label</th>
              <th>Prefix</th>
              <th class="wide-only">Last used</th>
              <th class="wide-only">Expires</th>
              <th>
                <span class="visually-hidden">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <td>
                  {key.label || <span class="dim">no label</span>} {key.state !== "active" && <Badge tone="bad">{key.state}</Badge>}
                  {key.madeWith && <div class="dim">Ends with {nameOf(key.madeWith)}</div>}
                </td>
                <td class="mono">{key.prefix}…</td>
                <td class="wide-only dim">{key.lastUsed ? <Time at={key.lastUsed} /> : "never"}</td>
                <td class="wide-only dim">{key.expires ? <Time at={key.expires} /> : "never"}</td>
                <td class="end">{key.state === "active" && <Revoke uid={uid} of={key} done={reload} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {value && !value.complete && <p class="hint">Only the oldest keys are shown. Use the API to list all of them.</p>}
      {creating && !created && (
        <Dialog title="New key" onClose={close}>
          <NewKey uid={uid} done={(key) => (setCreated(key), reload())} cancel={close} />
        </Dialog>
      )}
      {created && <NewKeyDialog created={created} of={of} close={close} />}
    </section>
  );
}

function NewKey({ uid, done, cancel }: { uid: string; done: (key: Key) => void; cancel: () => void }) {
  const own = uid === useMe().id;
  const label = useRef<HTMLInputElement>(null);
  const expires = useRef<HTMLInputElement>(null);
  const submit = async () => {
    const fields = { label: label.current!.value, expires: expires.current!.value };
    done(await users.createKey(uid, Object.fromEntries(Object.entries(fields).filter(([, value]) => value))));
  };
  return (
    <Form action="Create key" submit={submit} onCancel={cancel}>
      {(errorOf) => (
        <>
          <Field label="Label" hint="Where the key is used, such as “laptop” or “microscope 2”." error={errorOf("label")}>
            {(a) => <input ref={label} autofocus {...a} />}
          </Field>
          <Field
            label="Expires"
            hint={
              own
                ? "At the start of this day (UTC). Empty: together with the key that you are signed in with."
                : "At the start of this day (UTC). Empty: never."
            }
            error={errorOf("expires")}
          >
            {(a) => <input ref={expires} type="date" {...a} />}
          </Field>
          {own && <p class="hint">The new key depends on the key that you are signed in with: both are revoked together.</p>}
        </>
      )}
    </Form>
  );
}

/** Shows a new key once, to its user or to the sysadmin who created it. */
export function NewKeyDialog({ created, of, close }: { created: Key; of: User; close: () => void }) {
  const own = of.id === useMe().id;
  const name = of.fullname || of.username;
  return (
    <Dialog title={own ? "Your new key" : `New key of ${name}`} onClose={close} stays>
      <p>
        {own
          ? "It is shown only once. Store it where no one else can read it: anyone who has it has your access."
          : `It is shown only once. Send it to ${name} in a way that no one else can read: anyone who has it has the access of ${name}.`}
      </p>
      <p class="secret">
        <code>{created.key}</code>
        <Copy text={created.key!} what="the key">
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

function Revoke({ uid, of, done }: { uid: string; of: Key; done: () => void }) {
  const name = of.label || of.prefix;
  const keep = useRef<HTMLInputElement>(null);
  return (
    <ConfirmButton
      class="tight"
      label={<>Revoke <span class="visually-hidden">{name}</span></>}
      confirm={{
        title: "Revoke this key?",
        action: "Revoke",
        submit: () => users.revokeKey(uid, of.id, keep.current?.checked).then(done),
        children: (
          <>
            <p>
              The service stops accepting <strong>{name}</strong> immediately. This cannot be undone. If you have signed in with it here, you are
              signed out.
            </p>
            <EndsWith uid={uid} of={of} keep={keep} />
          </>
        ),
      }}
    />
  );
}

const kinds = { key: "Key", share: "Share", request: "File request", invitation: "Invitation", webhook: "Webhook" };

/** Lists everything that a key has created, and offers to keep it. */
function EndsWith({ uid, of, keep }: { uid: string; of: Key; keep: RefObject<HTMLInputElement | null> }) {
  const { value, problem, reload } = useLoad((signal) => users.dependents(uid, of.id, signal), [uid, of.id]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton />;
  if (value.count === 0) return null;
  const shown = value.data.slice(0, 10);
  return (
    <>
      <p>Revoking it also revokes or pauses everything that was created with it:</p>
      <ul>
        {shown.map((d) => (
          <li key={d.id}>
            {kinds[d.kind]} {d.label || <span class="mono">{d.id}</span>}
          </li>
        ))}
        {value.count > shown.length && <li>{value.count - shown.length} more</li>}
      </ul>
      <label class="option">
        <input type="checkbox" ref={keep} />
        <span>Keep these, because another key replaces this one</span>
      </label>
    </>
  );
}
