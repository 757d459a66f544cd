import { useEffect, useState } from "preact/hooks";
import type { Privilege, Role, User } from "../api";
import { dataspaces, privileges, Problem, users } from "../api";
import type { PageProps } from "../app";
import { useMe } from "../session";
import { useLook } from "../ui/again";
import { Ask, Badge, Button, Crumbs, Dialog, Empty, Failed, Field, Form, Waiting } from "../ui/basics";
import { VirtualList } from "../ui/list";
import { asProblem, useLoad } from "../ui/load";
import { useUser } from "../ui/people";
import { mayIn } from "../ui/role";
import { way } from "./set";

const roles: readonly (readonly [Role, string])[] = [
  ["member", "reads"],
  ["editor", "reads, uploads files, changes and deletes them"],
  ["admin", "does all that, and gives others access"],
];

/** Who has which role in a dataspace. */
export function MembersPage({ params }: PageProps) {
  const did = params.did!;
  const me = useMe();
  const { value, problem, reload, look } = useLoad(async (signal) => {
    const [dataspace, may] = await Promise.all([dataspaces.get(did), mayIn(did, me, signal)]);
    return { dataspace, may };
  }, [did]);
  useLook(look);
  const [turn, setTurn] = useState(0);
  const [adding, setAdding] = useState(false);
  const dataspace = value?.dataspace;
  useEffect(() => {
    if (dataspace) document.title = `Members of ${dataspace.title || dataspace.name} · labshelf`;
  }, [dataspace]);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!value || !dataspace) return <Waiting lines={8} />;
  const mayManage = value.may.manage && dataspace.state === "active";
  const changed = () => {
    setTurn((t) => t + 1);
    reload(); // it may have been the visitor's own role
  };
  return (
    <>
      <Crumbs way={way(dataspace)} />
      <div class="title">
        <div>
          <h1>Members</h1>
          <p class="dim">
            {dataspace.visibility === "public"
              ? "Everybody with an account may read this dataspace. These people may do more."
              : "Only these people, and sysadmins, may read this dataspace."}
          </p>
        </div>
        {mayManage && (
          <Button icon="plus" kind="primary" onClick={() => setAdding(true)}>
            Give access
          </Button>
        )}
      </div>
      <VirtualList<Privilege>
        of={did}
        turn={turn}
        make={() => privileges.list({ dataspaceId: did, state: "active" })}
        keyOf={(p) => p.id}
        label="Members"
        noun={["person", "people"]}
        kind="members"
        columns={
          <>
            <span role="columnheader">Person</span>
            <span role="columnheader" class="wide-only">
              User name
            </span>
            <span role="columnheader">Role</span>
            <span role="columnheader" class="end">
              <span class="unseen">Remove access</span>
            </span>
          </>
        }
        row={(p) => <Member privilege={p} mayManage={mayManage} changed={changed} />}
        empty={<Empty icon="people" title="Nobody has a role here that you may see" />}
      />
      {adding && (
        <Dialog title="Give access" onClose={() => setAdding(false)}>
          <Grant did={did} done={() => (setAdding(false), changed())} cancel={() => setAdding(false)} />
        </Dialog>
      )}
    </>
  );
}

function Member({ privilege, mayManage, changed }: { privilege: Privilege; mayManage: boolean; changed: () => void }) {
  const me = useMe();
  const user = useUser(privilege.userId);
  const name = user?.username ?? privilege.userId;
  const deleted = user?.state === "deleted";
  // An admin cannot give back a role that they removed from themselves; a sysadmin can.
  const own = privilege.userId === me.id && !me.sysadmin;
  return (
    <>
      <span role="cell" title={privilege.userId}>
        {user?.fullname || name} {privilege.userId === me.id && <Badge tone="accent">you</Badge>} {deleted && <Badge tone="bad">deleted</Badge>}
      </span>
      <span role="cell" class="wide-only mono dim">
        {user?.username}
      </span>
      <span role="cell">
        {mayManage && !deleted ? <RoleChoice privilege={privilege} name={name} own={own} changed={changed} /> : privilege.role}
      </span>
      <span role="cell" class="end">
        {mayManage && <Revoke privilege={privilege} name={user?.fullname || name} own={own} done={changed} />}
      </span>
    </>
  );
}

interface RoleProps {
  privilege: Privilege;
  name: string;
  /** It is the role of the visitor, who cannot undo a change of it. */
  own: boolean;
}

function RoleChoice({ privilege, name, own, changed }: RoleProps & { changed: () => void }) {
  const [problem, setProblem] = useState<Problem | undefined>();
  const [asking, setAsking] = useState<Role | undefined>();
  const grant = async (role: Role) => {
    await privileges.grant({ userId: privilege.userId, dataspaceId: privilege.dataspaceId, role });
    changed();
  };
  const change = (e: Event) => {
    const select = e.currentTarget as HTMLSelectElement;
    const role = select.value as Role;
    const stay = () => (select.value = privilege.role);
    if (own) {
      stay();
      setAsking(role);
    } else {
      grant(role).catch((thrown) => (stay(), setProblem(asProblem(thrown))));
    }
  };
  const close = () => setAsking(undefined);
  return (
    <>
      <select value={privilege.role} onChange={change} aria-label={`Role of ${name}`}>
        {roles.map(([role]) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
      </select>
      {problem && (
        <Dialog title={`The role of ${name} stays`} onClose={() => setProblem(undefined)}>
          <Failed problem={problem} />
        </Dialog>
      )}
      {asking && (
        <Ask title={`Give up being ${privilege.role}?`} action="Give up" submit={() => grant(asking).then(close)} close={close}>
          <p>You will be {asking} here, from the next request on. You cannot undo that: another admin, or a sysadmin, has to.</p>
        </Ask>
      )}
    </>
  );
}

function Revoke({ privilege, name, own, done }: RoleProps & { done: () => void }) {
  const [asking, setAsking] = useState(false);
  const submit = async () => {
    await privileges.revoke(privilege.id);
    setAsking(false);
    done();
  };
  return (
    <>
      <Button class="tight" title={`Remove access of ${name}`} onClick={() => setAsking(true)}>
        Remove access <span class="unseen">of {name}</span>
      </Button>
      {asking && (
        <Ask title="Remove access?" action="Remove access" submit={submit} close={() => setAsking(false)}>
          <p>
            {own ? "You" : name} will no longer be {privilege.role} here, from the next request on.
            {own && " You cannot undo that: another admin, or a sysadmin, has to."}
          </p>
        </Ask>
      )}
    </>
  );
}

/** Users that are offered while one types; others are found by their id. */
const offered = 5000;

/** Finds somebody by user name, full name or id. */
async function find(wanted: string, people: User[]): Promise<User> {
  const plain = wanted.toLowerCase();
  const active = people.filter((u) => u.state === "active");
  const byName = active.find((u) => u.username.toLowerCase() === plain);
  const named = active.filter((u) => u.fullname.toLowerCase() === plain);
  if (byName) return byName;
  if (named.length > 1) throw new Problem(-1, "ambiguous", "Several people have that name. Give the user name.", "person");
  if (named[0]) return named[0];
  const nobody = new Problem(-1, "nobody", "There is nobody of that name.", "person");
  return users.get(wanted).catch((thrown) => Promise.reject(asProblem(thrown).status === 404 ? nobody : thrown));
}

function Grant({ did, done, cancel }: { did: string; done: () => void; cancel: () => void }) {
  const { value: people, problem, reload } = useLoad((signal) => users.list({ limit: 1000 }).all(offered, signal), []);
  const [person, setPerson] = useState("");
  const [role, setRole] = useState<Role>("member");
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!people) return <Waiting />;
  const submit = async () => {
    const user = await find(person.trim(), people.items);
    const [has] = (await privileges.list({ userId: user.id, dataspaceId: did, state: "active" }).all(1)).items;
    if (has) throw new Problem(-1, "has_access", `${user.username} is ${has.role} here already. Choose another role in the list of members.`, "person");
    await privileges.grant({ userId: user.id, dataspaceId: did, role });
    done();
  };
  const others = people.whole ? "" : " There are too many people to offer all of them: if one is not found, give the id.";
  return (
    <Form action="Give access" submit={submit} onCancel={cancel}>
      {(errorOf) => (
        <>
          <Field
            label="Person"
            hint={`User name or full name. People who have no account yet are added by a sysadmin.${others}`}
            error={errorOf("person") ?? errorOf("userId")}
          >
            {(a) => <input {...a} list="people" required autofocus autocomplete="off" value={person} onInput={(e) => setPerson(e.currentTarget.value)} />}
          </Field>
          <datalist id="people">
            {people.items
              .filter((u) => u.state === "active")
              .map((u) => (
                <option key={u.id} value={u.username}>
                  {u.fullname}
                </option>
              ))}
          </datalist>
          <fieldset>
            <legend>Role</legend>
            {roles.map(([value, meaning]) => (
              <label key={value} class="option">
                <input type="radio" name="role" value={value} checked={role === value} onChange={() => setRole(value)} />
                <span>
                  <strong>{value}</strong> <span class="dim">{meaning}</span>
                </span>
              </label>
            ))}
          </fieldset>
        </>
      )}
    </Form>
  );
}
