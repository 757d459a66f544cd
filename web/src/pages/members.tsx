import { useEffect, useState } from "preact/hooks";
import type { Privilege, Role, User } from "../api";
import { dataspaces, privileges, users } from "../api";
import type { PageProps } from "../app";
import { useMe } from "../session";
import { about, Badge, Button, Crumbs, Dialog, Empty, Failed, Field, Form, Waiting } from "../ui/basics";
import { asProblem, useLoad } from "../ui/load";
import { useMay } from "../ui/role";
import { way } from "./set";

export const roles: readonly (readonly [Role, string])[] = [
  ["member", "reads"],
  ["editor", "reads, puts files in, changes and deletes them"],
  ["admin", "does all that, and gives others access"],
];

/** As many members as a page of people can hold. */
const most = 1000;

interface Member {
  privilege: Privilege;
  user: User;
}

/** Who has which role in a dataspace. */
export function MembersPage({ params }: PageProps) {
  const did = params.did!;
  const { value: dataspace, problem, reload } = useLoad(() => dataspaces.get(did), [did]);
  const members = useLoad((signal) => membersOf(did, signal), [did]);
  const may = useMay(did);
  const [adding, setAdding] = useState(false);
  useEffect(() => {
    if (dataspace) document.title = `Members of ${dataspace.title || dataspace.name} · labshelf`;
  }, [dataspace]);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!dataspace) return <Waiting lines={8} />;
  const mayManage = !!may?.manage && dataspace.state === "active";
  return (
    <>
      <Crumbs way={way(did, dataspace)} />
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
      {members.problem && <Failed problem={members.problem} retry={members.reload} />}
      {!members.value && !members.problem && <Waiting />}
      {members.value && <Table members={members.value} mayManage={mayManage} changed={members.reload} />}
      {adding && (
        <Dialog title="Give access" onClose={() => setAdding(false)}>
          <Grant did={did} done={() => (setAdding(false), members.reload())} cancel={() => setAdding(false)} />
        </Dialog>
      )}
    </>
  );
}

async function membersOf(did: string, signal: AbortSignal): Promise<Member[]> {
  const found = await privileges.list({ dataspaceId: did, limit: most }).all(most, signal);
  const people = await users.list({ limit: most }).all(10 * most, signal);
  const byId = new Map(people.map((u) => [u.id, u]));
  return found.flatMap((privilege) => {
    const user = byId.get(privilege.userId);
    return user ? [{ privilege, user }] : [];
  });
}

function Table({ members, mayManage, changed }: { members: Member[]; mayManage: boolean; changed: () => void }) {
  const me = useMe();
  if (!members.length) return <Empty icon="people" title="Nobody has a role here yet" />;
  return (
    <table class="plain">
      <thead>
        <tr>
          <th>Person</th>
          <th class="wide-only">User name</th>
          <th>Role</th>
          {mayManage && <th class="unseen">Take away</th>}
        </tr>
      </thead>
      <tbody>
        {members.map(({ privilege, user }) => (
          <tr key={privilege.id}>
            <td>
              {user.fullname || user.username} {user.id === me.id && <Badge tone="accent">you</Badge>}
              {user.state === "deleted" && <Badge tone="bad">deleted</Badge>}
            </td>
            <td class="wide-only mono dim">{user.username}</td>
            <td>{mayManage ? <RoleChoice privilege={privilege} user={user} changed={changed} /> : privilege.role}</td>
            {mayManage && (
              <td class="end">
                <Revoke privilege={privilege} user={user} done={changed} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function RoleChoice({ privilege, user, changed }: { privilege: Privilege; user: User; changed: () => void }) {
  const [problem, setProblem] = useState<ReturnType<typeof asProblem> | undefined>();
  const change = async (e: Event) => {
    const role = (e.currentTarget as HTMLSelectElement).value as Role;
    try {
      await privileges.grant({ userId: privilege.userId, dataspaceId: privilege.dataspaceId, role });
      setProblem(undefined);
    } catch (thrown) {
      setProblem(asProblem(thrown));
    }
    changed();
  };
  return (
    <>
      <select value={privilege.role} onChange={change} aria-label={`Role of ${user.username}`}>
        {roles.map(([role]) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
      </select>
      {problem && <Failed problem={problem} />}
    </>
  );
}

function Revoke({ privilege, user, done }: { privilege: Privilege; user: User; done: () => void }) {
  const [asking, setAsking] = useState(false);
  const submit = async () => {
    await privileges.revoke(privilege.id);
    setAsking(false);
    done();
  };
  return (
    <>
      <Button icon="cross" aria-label={`Take access from ${user.username}`} onClick={() => setAsking(true)}>
        <span class="wide-only">Take away</span>
      </Button>
      {asking && (
        <Dialog title="Take access away?" onClose={() => setAsking(false)}>
          <Form action="Take away" danger submit={submit} onCancel={() => setAsking(false)}>
            {() => (
              <p>
                {user.fullname || user.username} will no longer be {privilege.role} here, from the next request on.
              </p>
            )}
          </Form>
        </Dialog>
      )}
    </>
  );
}

function Grant({ did, done, cancel }: { did: string; done: () => void; cancel: () => void }) {
  const { value: people, problem, reload } = useLoad((signal) => users.list({ limit: most }).all(10 * most, signal), []);
  const [username, setUsername] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [unknown, setUnknown] = useState(false);
  if (problem) return <Failed problem={problem} retry={reload} />;
  if (!people) return <Waiting />;
  const submit = async () => {
    const wanted = username.trim().toLowerCase();
    const user = people.find((u) => u.state === "active" && (u.username.toLowerCase() === wanted || u.fullname.toLowerCase() === wanted));
    setUnknown(!user);
    if (!user) return;
    await privileges.grant({ userId: user.id, dataspaceId: did, role });
    done();
  };
  return (
    <Form action="Give access" submit={submit} onCancel={cancel}>
      {(refused) => (
        <>
          <Field
            label="Person"
            hint="User name or full name. People who have no account yet are added by a sysadmin."
            error={unknown ? "There is nobody of that name." : about(refused, "userId")}
          >
            {(a) => <input {...a} list="people" required autofocus autocomplete="off" value={username} onInput={(e) => setUsername(e.currentTarget.value)} />}
          </Field>
          <datalist id="people">
            {people
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
