import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Privilege, Role, User } from "../api";
import { adminsInvite, dataspaces, privileges, Problem, users } from "../api";
import { InviteButton } from "../links/button";
import { useMe } from "../session";
import { Badge, Breadcrumbs, breadcrumbsTo, Button, Empty, ErrorMessage, PageHeader, Skeleton } from "../ui/components";
import { Confirm, ConfirmButton, Dialog } from "../ui/dialog";
import { Field, Form } from "../ui/form";
import { hiddenHead, VirtualList } from "../ui/list";
import { asProblem, useLoad } from "../ui/load";
import { permissionsIn } from "../ui/permissions";
import { readers } from "../ui/readers";
import { useRefreshOnFocus } from "../ui/refresh";
import { RoleField, roles } from "../ui/roles";
import { useTitle } from "../ui/title";
import { useUser } from "../ui/users";
import type { PageProps } from "./props";

/** The members of a dataspace with their roles. */
export function MembersPage({ params }: PageProps) {
  const did = params.did!;
  const me = useMe();
  const { value, problem, reload, refresh } = useLoad(async (signal) => {
    const [dataspace, may] = await Promise.all([dataspaces.get(did), permissionsIn(did, me, signal)]);
    return { dataspace, may };
  }, [did]);
  useRefreshOnFocus(refresh);
  const [version, setVersion] = useState(0);
  const [adding, setAdding] = useState(false);
  const dataspace = value?.dataspace;
  useTitle(dataspace && `Members of ${dataspace.title || dataspace.name}`);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value || !dataspace) return <Skeleton lines={8} />;
  const mayManage = value.may.manage && dataspace.state === "active";
  const changed = () => {
    setVersion((n) => n + 1);
    reload(); // the changed role can be the user's own
  };
  return (
    <>
      <Breadcrumbs path={breadcrumbsTo(dataspace)} />
      <PageHeader
        title="Members"
        lead={readers[dataspace.visibility].sentence}
      >
        {mayManage && (me.sysadmin || adminsInvite) && <InviteButton into={dataspace} />}
        {mayManage && (
          <Button icon="plus" kind="primary" onClick={() => setAdding(true)}>
            Give access
          </Button>
        )}
      </PageHeader>
      <VirtualList<Privilege>
        id={did}
        version={version}
        create={() => privileges.list({ dataspaceId: did, state: "active" })}
        keyOf={(p) => p.id}
        label="Members"
        noun={["member", "members"]}
        kind="members"
        columns={[
          {
            head: "User",
            title: (p) => p.userId,
            cell: (p) => (
              <Member privilege={p}>
                {({ user, name, isMe }) => (
                  <>
                    {name} {isMe && <Badge tone="accent">you</Badge>} {user?.state === "deleted" && <Badge tone="bad">deleted</Badge>}
                  </>
                )}
              </Member>
            ),
          },
          { head: "Username", class: "wide-only", cellClass: "mono dim", cell: (p) => <Member privilege={p}>{({ user }) => user?.username}</Member> },
          {
            head: "Role",
            cell: (p) => (
              <Member privilege={p}>
                {(member) => (mayManage && member.user?.state !== "deleted" ? <RoleChoice privilege={p} {...member} done={changed} /> : p.role)}
              </Member>
            ),
          },
          {
            head: hiddenHead("Remove access"),
            class: "end",
            cell: (p) => mayManage && <Member privilege={p}>{(member) => <Revoke privilege={p} {...member} done={changed} />}</Member>,
          },
        ]}
        empty={<Empty icon="people" title="No visible members" />}
      />
      {adding && (
        <Dialog title="Give access" onClose={() => setAdding(false)}>
          <Grant did={did} done={() => (setAdding(false), changed())} cancel={() => setAdding(false)} />
        </Dialog>
      )}
    </>
  );
}

interface MemberInfo {
  /** Undefined until it is loaded. */
  user: User | undefined;
  /** The full name, the username or the id. */
  name: string;
  isMe: boolean;
  /** Whether the signed-in user could not undo a change of the role. */
  own: boolean;
}

/** Loads the user of a privilege for `children`. */
function Member({ privilege: { userId }, children }: { privilege: Privilege; children: (member: MemberInfo) => ComponentChildren }) {
  const me = useMe();
  const user = useUser(userId);
  const isMe = userId === me.id;
  // An admin who gives up the role cannot restore it; a sysadmin can.
  return <>{children({ user, name: user?.fullname || user?.username || userId, isMe, own: isMe && !me.sysadmin })}</>;
}

interface RoleProps extends MemberInfo {
  privilege: Privilege;
  done: () => void;
}

function RoleChoice({ privilege, user, own, done }: RoleProps) {
  const name = user?.username ?? privilege.userId;
  const [problem, setProblem] = useState<Problem | undefined>();
  const [asking, setAsking] = useState<Role | undefined>();
  const grant = async (role: Role) => {
    await privileges.grant({ userId: privilege.userId, dataspaceId: privilege.dataspaceId, role });
    done();
  };
  const change = (e: Event) => {
    const select = e.currentTarget as HTMLSelectElement;
    const role = select.value as Role;
    const restore = () => (select.value = privilege.role);
    if (own) {
      restore();
      setAsking(role);
    } else {
      grant(role).catch((thrown) => (restore(), setProblem(asProblem(thrown))));
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
        <Dialog title={`The role of ${name} was not changed`} onClose={() => setProblem(undefined)}>
          <ErrorMessage problem={problem} />
        </Dialog>
      )}
      {asking && (
        <Confirm title={`Give up the role ${privilege.role}?`} action="Give up" submit={() => grant(asking).then(close)} close={close}>
          <p>From the next request on, your role here will be {asking}. Only another admin or a sysadmin can undo that.</p>
        </Confirm>
      )}
    </>
  );
}

function Revoke({ privilege, name, own, done }: RoleProps) {
  return (
    <ConfirmButton
      class="tight"
      title={`Remove access of ${name}`}
      label={<>Remove access <span class="visually-hidden">of {name}</span></>}
      confirm={{
        title: "Remove access?",
        action: "Remove access",
        submit: () => privileges.revoke(privilege.id).then(done),
        children: (
          <p>
            {own ? "You" : name} will no longer be {privilege.role} here, from the next request on.
            {own && " Only another admin or a sysadmin can undo that."}
          </p>
        ),
      }}
    />
  );
}

/** The maximum number of suggested users; others can be found by id. */
const maxSuggested = 5000;

/** Finds a user by username, full name or id. */
async function findUser(nameOrId: string, people: User[]): Promise<User> {
  const plain = nameOrId.toLowerCase();
  const active = people.filter((u) => u.state === "active");
  const byName = active.find((u) => u.username.toLowerCase() === plain);
  const named = active.filter((u) => u.fullname.toLowerCase() === plain);
  if (byName) return byName;
  if (named.length > 1) throw new Problem(-1, "ambiguous", "Several users have that name. Enter the username.", "person");
  if (named[0]) return named[0];
  const unknown = new Problem(-1, "unknown", "No user has that name.", "person");
  return users.get(nameOrId).catch((thrown) => Promise.reject(asProblem(thrown).status === 404 ? unknown : thrown));
}

function Grant({ did, done, cancel }: { did: string; done: () => void; cancel: () => void }) {
  const { value: people, problem, reload } = useLoad((signal) => users.list({ limit: 1000 }).all(maxSuggested, signal), []);
  const [person, setPerson] = useState("");
  const [role, setRole] = useState<Role>("member");
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!people) return <Skeleton />;
  const submit = async () => {
    const user = await findUser(person.trim(), people.items);
    const [has] = (await privileges.list({ userId: user.id, dataspaceId: did, state: "active" }).all(1)).items;
    if (has) throw new Problem(-1, "has_access", `${user.username} is ${has.role} here already. Change the role in the list of members.`, "person");
    await privileges.grant({ userId: user.id, dataspaceId: did, role });
    done();
  };
  const others = people.complete ? "" : " There are too many users to suggest all of them: if one is not found, enter the id.";
  return (
    <Form action="Give access" submit={submit} onCancel={cancel}>
      {(errorOf) => (
        <>
          <Field
            label="User"
            hint={`Username or full name. Sysadmins create accounts.${others}`}
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
          <RoleField role={role} choose={setRole} />
        </>
      )}
    </Form>
  );
}
