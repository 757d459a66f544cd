import { useEffect, useRef, useState } from "preact/hooks";
import type { Key, User } from "../api";
import { users } from "../api";
import type { PageProps } from "../app";
import { useEdit } from "../edit/save";
import { useMe, useSession } from "../session";
import { useLook } from "../ui/again";
import { Ask, Badge, Button, Copy, Dialog, Empty, Failed, Field, Form, Time, Waiting } from "../ui/basics";
import { useLoad } from "../ui/load";

/** The account of the visitor: what others see of it, and its keys. */
export function AccountPage(_: PageProps) {
  const me = useMe();
  useEffect(() => {
    document.title = "Your account · labshelf";
  }, []);
  return (
    <>
      <div class="title">
        <div>
          <h1>{me.fullname || me.username}</h1>
          <p class="dim">
            <code>{me.username}</code> {me.sysadmin && <Badge tone="accent">sysadmin</Badge>} <Copy text={me.id} what="your id" />
          </p>
        </div>
      </div>
      <div class="beside">
        <Keys of={me} />
        <Profile />
      </div>
    </>
  );
}

/** The form begins anew with what is saved, and with what is found to have changed while nothing has been typed. */
function Profile() {
  const me = useMe();
  const { changed } = useSession();
  const [was, setWas] = useState(me);
  const [saved, setSaved] = useState(false);
  const [typed, setTyped] = useState(false);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!typed) setWas(me);
  }, [me, typed]);
  useEffect(() => {
    if (saved) section.current!.querySelector<HTMLElement>("[type=submit]")!.focus(); // the form is another one now
  }, [was]);
  const done = (user: User) => {
    setTyped(false);
    setSaved(true);
    changed(user);
  };
  return (
    <section class="sheet" ref={section} onInput={() => (setTyped(true), setSaved(false))}>
      <h2>What others see of you</h2>
      <ProfileForm key={was.etag} was={was} done={done} />
      <p role="status" class="dim">
        {saved && "Saved."}
      </p>
    </section>
  );
}

function ProfileForm({ was, done }: { was: User; done: (user: User) => void }) {
  const { save, clashes } = useEdit(was, users, { fullname: "Full name", about: "About you" });
  const fullname = useRef<HTMLInputElement>(null);
  const text = useRef<HTMLTextAreaElement>(null);
  const submit = async () => done(await save({ fullname: fullname.current!.value, about: text.current!.value }));
  return (
    <Form action="Save" submit={submit}>
      {(errorOf) => (
        <>
          <Field label="Full name" error={errorOf("fullname")}>
            {(a) => <input ref={fullname} defaultValue={was.fullname} autocomplete="name" {...a} />}
          </Field>
          <Field label="About you" error={errorOf("about")}>
            {(a) => <textarea ref={text} defaultValue={was.about} {...a} />}
          </Field>
          {clashes}
        </>
      )}
    </Form>
  );
}

/** Keys of a user, with what makes and revokes them; a closed list has no new ones. */
export function Keys({ of, closed = false }: { of: User; closed?: boolean }) {
  const uid = of.id;
  const own = uid === useMe().id;
  const { value, problem, reload, look } = useLoad((signal) => users.keys(uid, { limit: 1000 }).all(1000, signal), [uid]);
  useLook(look);
  const keys = value?.items ?? [];
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<Key | undefined>();
  const close = () => {
    setMaking(false);
    setMade(undefined);
  };
  return (
    <section class="sheet">
      <div class="title">
        <div>
          <h2>{own ? "Your keys" : "Keys"}</h2>
          <p class="dim">
            {closed
              ? "None of them lets anybody in: the user is deleted."
              : "A key lets a browser, a script or an instrument in. Make one for each, so that each can be revoked alone."}
          </p>
        </div>
        {!closed && (
          <Button icon="key" onClick={() => setMaking(true)}>
            New key
          </Button>
        )}
      </div>
      {problem && <Failed problem={problem} retry={reload} />}
      {!value && !problem && <Waiting />}
      {keys.length === 0 && value && <Empty icon="key" title="There is no key" />}
      {keys.length > 0 && (
        <table class="plain">
          <thead>
            <tr>
              <th>Label</th>
              <th>Begins with</th>
              <th class="wide-only">Last used</th>
              <th class="wide-only">Expires</th>
              <th>
                <span class="unseen">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <td>
                  {key.label || <span class="dim">no label</span>} {key.state !== "active" && <Badge tone="bad">{key.state}</Badge>}
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
      {value && !value.whole && <p class="hint">There are more keys, younger than these. The interface lists them all.</p>}
      {making && !made && (
        <Dialog title="New key" onClose={close}>
          <NewKey uid={uid} done={(key) => (setMade(key), reload())} cancel={close} />
        </Dialog>
      )}
      {made && <Shown made={made} of={of} close={close} />}
    </section>
  );
}

function NewKey({ uid, done, cancel }: { uid: string; done: (key: Key) => void; cancel: () => void }) {
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
          <Field label="Label" hint="What it is for, such as “laptop” or “microscope 2”." error={errorOf("label")}>
            {(a) => <input ref={label} autofocus {...a} />}
          </Field>
          <Field label="Expires" hint="At the first instant of this day (UTC). Empty: never." error={errorOf("expires")}>
            {(a) => <input ref={expires} type="date" {...a} />}
          </Field>
        </>
      )}
    </Form>
  );
}

/** The only time that a key is shown: to its user, or to the sysadmin who has created it for them. */
export function Shown({ made, of, close }: { made: Key; of: User; close: () => void }) {
  const own = of.id === useMe().id;
  const name = of.fullname || of.username;
  return (
    <Dialog title={own ? "Your new key" : `New key of ${name}`} onClose={close} stays>
      <p>
        {own
          ? "It is shown only now. Keep it where others cannot read it; whoever has it can do what you can."
          : `It is shown only now. Hand it to ${name} in a way that others cannot read; whoever has it can do what ${name} can.`}
      </p>
      <p class="secret">
        <code>{made.key}</code>
        <Copy text={made.key!} what="the key">
          Copy
        </Copy>
      </p>
      <div class="actions">
        <Button kind="primary" onClick={close}>
          I have kept it
        </Button>
      </div>
    </Dialog>
  );
}

function Revoke({ uid, of, done }: { uid: string; of: Key; done: () => void }) {
  const [asking, setAsking] = useState(false);
  const submit = async () => {
    await users.revokeKey(uid, of.id);
    setAsking(false);
    done();
  };
  return (
    <>
      <Button class="tight" onClick={() => setAsking(true)}>
        Revoke <span class="unseen">{of.label || of.prefix}</span>
      </Button>
      {asking && (
        <Ask title="Revoke this key?" action="Revoke" submit={submit} close={() => setAsking(false)}>
          <p>
            Whatever uses <strong>{of.label || of.prefix}</strong> is refused from its next request on. That cannot be undone. If you have signed in with it
            here, you are signed out.
          </p>
        </Ask>
      )}
    </>
  );
}
