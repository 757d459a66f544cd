// The keys of a user: on the page of their account, and for sysadmins in the list of users.
import { useRef, useState } from "preact/hooks";
import type { Key, KeyFields, User } from "../api";
import { users } from "../api";
import { useMe } from "../session";
import { Badge, Button, Copy, Empty, ErrorMessage, Skeleton, Time } from "../ui/components";
import { ConfirmButton, Dialog } from "../ui/dialog";
import { useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";
import { EndsWith } from "./dependents";
import { KeyForm } from "./keyform";
import { isNarrow, Permitted } from "./permitted";

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
              <th>Key</th>
              <th class="wide-only">Last used</th>
              <th class="wide-only">Expires</th>
              <th>
                <span class="visually-hidden">Limit or revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <td>
                  {key.label || <span class="dim">no label</span>} {key.state !== "active" && <Badge tone="bad">{key.state}</Badge>}
                  <div>
                    <Permitted by={key} />
                  </div>
                  {key.networks && <div class="dim">only from {key.networks.join(", ")}</div>}
                  <div class="dim">
                    <span class="mono">{key.prefix}…</span>
                    {key.madeWith && <> depends on {nameOf(key.madeWith)}</>}
                  </div>
                </td>
                <td class="wide-only dim">{key.lastUsed ? <Time at={key.lastUsed} /> : "never"}</td>
                <td class="wide-only dim">{key.expires ? <Time at={key.expires} /> : "never"}</td>
                <td class="end">
                  {key.state === "active" && (
                    <div class="row-actions">
                      <Limit user={of} of={key} done={reload} />
                      <Revoke uid={uid} of={key} done={reload} />
                    </div>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {value && !value.complete && <p class="hint">Only the oldest keys are shown. Use the API to list all of them.</p>}
      {creating && !created && (
        <Dialog title="New key" onClose={close}>
          <KeyForm of={of} action="Create key" submit={async (fields) => (setCreated(await users.createKey(uid, fields)), reload())} cancel={close} />
        </Dialog>
      )}
      {created && <NewKeyDialog created={created} of={of} close={close} />}
    </section>
  );
}

/** Shows a new key once, to its user or to the sysadmin who created it. */
export function NewKeyDialog({ created, of, close }: { created: Key; of: User; close: () => void }) {
  const own = of.id === useMe().id;
  const name = of.fullname || of.username;
  const narrow = isNarrow(created);
  return (
    <Dialog title={own ? "Your new key" : `New key of ${name}`} onClose={close} stays>
      <p>
        {own
          ? `It is shown only once. Store it where no one else can read it: anyone who has it ${narrow ? "can use it" : "has your access"}.`
          : `It is shown only once. Send it to ${name} in a way that no one else can read: anyone who has it ${narrow ? "can use it" : `has the access of ${name}`}.`}
      </p>
      {narrow && (
        <p>
          The key is limited: it {created.scope === "all" && "permits "}
          <Permitted by={created} />.
        </p>
      )}
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

/** The button that makes a key narrower, with its dialog. */
function Limit({ user, of, done }: { user: User; of: Key; done: () => void }) {
  const name = of.label || `${of.prefix}…`;
  const keep = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  const submit = async (fields: KeyFields) => {
    await users.changeKey(user.id, of.id, fields, keep.current?.checked);
    close();
    done();
  };
  return (
    <>
      <Button class="tight" onClick={() => setOpen(true)}>
        Limit <span class="visually-hidden">{name}</span>
      </Button>
      {open && (
        <Dialog title={`Limit ${name}`} onClose={close}>
          <KeyForm of={user} was={of} action="Save" submit={submit} cancel={close} ends={<EndsWith uid={user.id} of={of} by="limit" keep={keep} />} />
        </Dialog>
      )}
    </>
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
            <EndsWith uid={uid} of={of} by="revoke" keep={keep} />
          </>
        ),
      }}
    />
  );
}
