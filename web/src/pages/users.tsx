import { useRef, useState } from "preact/hooks";
import type { Key, User } from "../api";
import { queryOf, users } from "../api";
import { Keys, NewKeyDialog } from "../edit/keys";
import { flat, flatCalls, QuotaField, withQuota } from "../edit/quota";
import { useEdit } from "../edit/save";
import { InviteButton } from "../links/button";
import { useLocation } from "../router";
import { useMe, useSession } from "../session";
import { Badge, Button, Empty, ErrorMessage, PageHeader, Skeleton } from "../ui/components";
import { Confirm, ConfirmButton, Dialog } from "../ui/dialog";
import { FilterBar, oneOf, StateChoice, states } from "../ui/filters";
import { Field, Form } from "../ui/form";
import { hiddenHead, VirtualList } from "../ui/list";
import { useLoad } from "../ui/load";
import { useTitle } from "../ui/title";

/** All users, for sysadmins. */
export function UsersPage() {
  const me = useMe();
  const { query } = useLocation();
  const [version, setVersion] = useState(0);
  const [open, setOpen] = useState<User | "new" | undefined>();
  const [created, setCreated] = useState<{ created: Key; of: User } | undefined>();
  useTitle("Users");
  if (!me.sysadmin) {
    return (
      <Empty icon="people" title="This page is for sysadmins">
        <p>It manages users and their keys. Your own profile and keys are in your account.</p>
      </Empty>
    );
  }
  const filters = { state: oneOf(query, "state", states) };
  const close = () => {
    setOpen(undefined);
    setVersion((n) => n + 1);
  };
  return (
    <>
      <PageHeader title="Users" lead="Create users and their first keys here. Admins of a dataspace give them access to it.">
        <InviteButton />
        <Button icon="plus" kind="primary" onClick={() => setOpen("new")}>
          New user
        </Button>
      </PageHeader>
      <FilterBar>
        <StateChoice />
      </FilterBar>
      <VirtualList<User>
        id={queryOf(filters)}
        version={version}
        create={() => users.list(filters)}
        keyOf={(u) => u.id}
        label="Users"
        noun={["user", "users"]}
        kind="users"
        columns={[
          {
            head: "User",
            cellClass: (u) => u.state,
            cell: (u) => (
              <>
                {u.fullname || u.username} {u.sysadmin && <Badge tone="accent">sysadmin</Badge>} {u.state === "deleted" && <Badge tone="bad">deleted</Badge>}
              </>
            ),
          },
          { head: "Username", class: "wide-only", cellClass: "mono dim", cell: (u) => u.username },
          { head: "About", class: "wide-only", cellClass: "dim", cell: (u) => u.about },
          {
            head: hiddenHead("Change"),
            class: "end",
            cell: (u) => (
              <Button class="tight" onClick={() => setOpen(u)}>
                Change <span class="visually-hidden">{u.username}</span>
              </Button>
            ),
          },
        ]}
        empty={<Empty icon="people" title="No matches" />}
      />
      {open === "new" && (
        <Dialog title="New user" onClose={close}>
          <NewUser done={(key, of) => (close(), setCreated({ created: key, of }))} cancel={close} />
        </Dialog>
      )}
      {open && open !== "new" && (
        <Dialog title={open.fullname || open.username} onClose={close}>
          <EditUser id={open.id} done={close} />
        </Dialog>
      )}
      {created && <NewKeyDialog {...created} close={() => setCreated(undefined)} />}
    </>
  );
}

function NewUser({ done, cancel }: { done: (key: Key, of: User) => void; cancel: () => void }) {
  const username = useRef<HTMLInputElement>(null);
  const fullname = useRef<HTMLInputElement>(null);
  const sysadmin = useRef<HTMLInputElement>(null);
  // if only the creation of the key fails, a retry creates only the key
  const created = useRef<User | undefined>(undefined);
  const submit = async () => {
    const fields = { username: username.current!.value.trim(), fullname: fullname.current!.value, sysadmin: sysadmin.current!.checked };
    if (created.current?.username !== fields.username) created.current = await users.create(fields);
    done(await users.createKey(created.current.id, { label: "first key" }), created.current);
  };
  return (
    <Form action="Create user and key" submit={submit} onCancel={cancel}>
      {(errorOf) => (
        <>
          <Field label="Username" hint="1 to 100 letters, digits and . _ - @. Cannot be changed later." error={errorOf("username")}>
            {(a) => <input ref={username} required autofocus autocomplete="off" spellcheck={false} {...a} />}
          </Field>
          <Field label="Full name" error={errorOf("fullname")}>
            {(a) => <input ref={fullname} autocomplete="off" {...a} />}
          </Field>
          <label class="option">
            <input ref={sysadmin} type="checkbox" /> Sysadmin: has all permissions on all data
          </label>
        </>
      )}
    </Form>
  );
}

/** Loads the user first: the list can be outdated. */
function EditUser({ id, done }: { id: string; done: () => void }) {
  const { value: was, problem, reload } = useLoad(() => users.get(id), [id]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!was) return <Skeleton lines={6} />;
  if (was.state === "deleted") return <Deleted was={was} done={done} />;
  return (
    <>
      <UserForm was={was} done={done} />
      <Keys of={was} />
      <Delete was={was} done={done} />
    </>
  );
}

const userCalls = flatCalls<User>(users);

function UserForm({ was: user, done }: { was: User; done: () => void }) {
  const me = useMe();
  const was = flat(user);
  const { save: edit, conflicts } = useEdit(was, userCalls, { fullname: "Full name", sysadmin: "Sysadmin", quota: "Quota" });
  const form = useRef<HTMLFormElement>(null);
  const { setUser } = useSession();
  const fullname = useRef<HTMLInputElement>(null);
  const sysadmin = useRef<HTMLInputElement>(null);
  const [asking, setAsking] = useState(false);
  const send = async () => {
    const quota = String(new FormData(form.current!).get("quota") ?? "");
    const now = await edit({ fullname: fullname.current!.value, sysadmin: sysadmin.current!.checked, quota });
    if (was.id === me.id) setUser(withQuota<User>(now));
    done();
  };
  const save = async () => {
    if (was.id === me.id && !sysadmin.current!.checked) setAsking(true);
    else await send();
  };
  return (
    <>
      <Form action="Save" submit={save} formRef={form}>
        {(errorOf) => (
          <>
            <Field label="Full name" error={errorOf("fullname")}>
              {(a) => <input ref={fullname} defaultValue={was.fullname} {...a} />}
            </Field>
            <QuotaField was={was.quota} error={errorOf("quota")} />
            <label class="option">
              <input ref={sysadmin} type="checkbox" defaultChecked={!!was.sysadmin} /> Sysadmin
            </label>
            {conflicts}
          </>
        )}
      </Form>
      {asking && (
        <Confirm title="Give up sysadmin rights?" action="Give up" submit={send} close={() => setAsking(false)}>
          <p>You will see only public dataspaces and those in which you have a role. Only another sysadmin can undo that.</p>
        </Confirm>
      )}
    </>
  );
}

function Delete({ was, done }: { was: User; done: () => void }) {
  const me = useMe();
  if (was.id === me.id) return null;
  const text = <p>Their keys stop working immediately, and stay revoked if the user is restored. Their data stays.</p>;
  const confirm = { title: `Delete ${was.username}?`, action: "Delete", submit: () => users.remove(was.id).then(done), children: text };
  return (
    <div class="actions">
      <ConfirmButton kind="danger" label="Delete this user" confirm={confirm} />
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
