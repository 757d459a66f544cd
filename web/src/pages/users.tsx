import { useEffect, useRef, useState } from "preact/hooks";
import type { Key, User } from "../api";
import { queryOf, users } from "../api";
import type { PageProps } from "../app";
import { useEdit } from "../edit/save";
import { usePlace } from "../router";
import { useMe, useSession } from "../session";
import { Ask, Badge, Button, Dialog, Empty, Failed, Field, Form, Waiting } from "../ui/basics";
import { VirtualList } from "../ui/list";
import { useLoad } from "../ui/load";
import { oneOf, StateChoice, states, Tools } from "../ui/state";
import { Keys, Shown } from "./account";

/** All users, for sysadmins. */
export function UsersPage(_: PageProps) {
  const me = useMe();
  const { query } = usePlace();
  const [turn, setTurn] = useState(0);
  const [open, setOpen] = useState<User | "new" | undefined>();
  const [made, setMade] = useState<{ key: Key; of: User } | undefined>();
  useEffect(() => {
    document.title = "Users · labshelf";
  }, []);
  if (!me.sysadmin) {
    return (
      <Empty icon="people" title="This page is for sysadmins">
        <p>They create users and their keys here. What others see of you stands in your account.</p>
      </Empty>
    );
  }
  const filters = { state: oneOf(query, "state", states) };
  const close = () => {
    setOpen(undefined);
    setTurn((t) => t + 1);
  };
  return (
    <>
      <div class="title">
        <div>
          <h1>Users</h1>
          <p class="dim">Create users and their first key here; admins of a dataspace give them access to it.</p>
        </div>
        <Button icon="plus" kind="primary" onClick={() => setOpen("new")}>
          New user
        </Button>
      </div>
      <Tools>
        <StateChoice />
      </Tools>
      <VirtualList<User>
        of={queryOf(filters)}
        turn={turn}
        make={() => users.list(filters)}
        keyOf={(u) => u.id}
        label="Users"
        noun={["user", "users"]}
        kind="people"
        columns={
          <>
            <span role="columnheader">Person</span>
            <span role="columnheader" class="wide-only">
              User name
            </span>
            <span role="columnheader" class="wide-only">
              About
            </span>
            <span role="columnheader" class="end">
              <span class="unseen">Change</span>
            </span>
          </>
        }
        row={(u) => (
          <>
            <span role="cell" class={u.state}>
              {u.fullname || u.username} {u.sysadmin && <Badge tone="accent">sysadmin</Badge>}{" "}
              {u.state === "deleted" && <Badge tone="bad">deleted</Badge>}
            </span>
            <span role="cell" class="wide-only mono dim">
              {u.username}
            </span>
            <span role="cell" class="wide-only dim">
              {u.about}
            </span>
            <span role="cell" class="end">
              <Button class="tight" onClick={() => setOpen(u)}>
                Change <span class="unseen">{u.username}</span>
              </Button>
            </span>
          </>
        )}
        empty={<Empty icon="people" title="Nobody matches" />}
      />
      {open === "new" && (
        <Dialog title="New user" onClose={close}>
          <NewUser done={(key, of) => (close(), setMade({ key, of }))} cancel={close} />
        </Dialog>
      )}
      {open && open !== "new" && (
        <Dialog title={open.fullname || open.username} onClose={close}>
          <EditUser id={open.id} done={close} />
        </Dialog>
      )}
      {made && <Shown made={made.key} of={made.of} close={() => setMade(undefined)} />}
    </>
  );
}

function NewUser({ done, cancel }: { done: (key: Key, of: User) => void; cancel: () => void }) {
  const username = useRef<HTMLInputElement>(null);
  const fullname = useRef<HTMLInputElement>(null);
  const sysadmin = useRef<HTMLInputElement>(null);
  const created = useRef<User | undefined>(undefined); // when only the key fails, another try makes only the key
  const submit = async () => {
    const fields = { username: username.current!.value.trim(), fullname: fullname.current!.value, sysadmin: sysadmin.current!.checked };
    if (created.current?.username !== fields.username) created.current = await users.create(fields);
    done(await users.createKey(created.current.id, { label: "first key" }), created.current);
  };
  return (
    <Form action="Create user and key" submit={submit} onCancel={cancel}>
      {(errorOf) => (
        <>
          <Field label="User name" hint="1 to 100 of letters, digits and . _ - @. Cannot be changed later." error={errorOf("username")}>
            {(a) => <input ref={username} required autofocus autocomplete="off" spellcheck={false} {...a} />}
          </Field>
          <Field label="Full name" error={errorOf("fullname")}>
            {(a) => <input ref={fullname} autocomplete="off" {...a} />}
          </Field>
          <label class="option">
            <input ref={sysadmin} type="checkbox" /> Sysadmin: may do everything, with everybody’s data
          </label>
        </>
      )}
    </Form>
  );
}

/** The list may show what was: somebody else has changed the user, or it is just being loaded anew. */
function EditUser({ id, done }: { id: string; done: () => void }) {
  const { value: was, problem, reload } = useLoad(() => users.get(id), [id]);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!was) return <Waiting lines={6} />;
  if (was.state === "deleted") return <Deleted was={was} done={done} />;
  return (
    <>
      <Record was={was} done={done} />
      <Keys of={was} />
      <Delete was={was} done={done} />
    </>
  );
}

function Record({ was, done }: { was: User; done: () => void }) {
  const me = useMe();
  const { save: edit, clashes } = useEdit(was, users, { fullname: "Full name", sysadmin: "Sysadmin" });
  const { changed } = useSession();
  const fullname = useRef<HTMLInputElement>(null);
  const sysadmin = useRef<HTMLInputElement>(null);
  const [asking, setAsking] = useState(false);
  const send = async () => {
    const now = await edit({ fullname: fullname.current!.value, sysadmin: sysadmin.current!.checked });
    if (was.id === me.id) changed(now);
    done();
  };
  const save = async () => {
    if (was.id === me.id && !sysadmin.current!.checked) setAsking(true);
    else await send();
  };
  return (
    <>
      <Form action="Save" submit={save}>
        {(errorOf) => (
          <>
            <Field label="Full name" error={errorOf("fullname")}>
              {(a) => <input ref={fullname} defaultValue={was.fullname} {...a} />}
            </Field>
            <label class="option">
              <input ref={sysadmin} type="checkbox" defaultChecked={!!was.sysadmin} /> Sysadmin
            </label>
            {clashes}
          </>
        )}
      </Form>
      {asking && (
        <Ask title="Give up sysadmin rights?" action="Give up" submit={send} close={() => setAsking(false)}>
          <p>You will see only the dataspaces in which you have a role. You cannot undo that: another sysadmin has to.</p>
        </Ask>
      )}
    </>
  );
}

function Delete({ was, done }: { was: User; done: () => void }) {
  const me = useMe();
  const [asking, setAsking] = useState(false);
  if (was.id === me.id) return null;
  return (
    <div class="actions">
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete this user
      </Button>
      {asking && (
        <Ask title={`Delete ${was.username}?`} action="Delete" submit={() => users.remove(was.id).then(done)} close={() => setAsking(false)}>
          <p>Their keys stop working at once, and stay revoked when the user is restored. What they created stays.</p>
        </Ask>
      )}
    </div>
  );
}

/** A deleted user can only be restored. */
function Deleted({ was, done }: { was: User; done: () => void }) {
  return (
    <>
      <Form action="Restore this user" submit={() => users.restore(was.id).then(done)}>
        {() => <p>This user is deleted. Once restored, they can sign in again with a new key.</p>}
      </Form>
      <Keys of={was} closed />
    </>
  );
}
