import { useState } from "preact/hooks";
import type { AuditEntry } from "../api";
import { audit, queryOf, users } from "../api";
import { actionKinds } from "../audit/actions";
import { Entries } from "../audit/entries";
import { setQuery, useLocation } from "../router";
import { useMe } from "../session";
import { Button, Code, ErrorMessage, PageHeader, Skeleton } from "../ui/components";
import { ConfirmButton, Dialog } from "../ui/dialog";
import { Choice, FilterBar, oneOf, TimeFilters, timesOf } from "../ui/filters";
import { Icon } from "../ui/icons";
import { useLoad } from "../ui/load";
import { useTitle } from "../ui/title";

/** All actions: sysadmins see everything, admins the entries of their dataspaces. */
export function AuditPage() {
  const me = useMe();
  const { query } = useLocation();
  const [head, setHead] = useState(false);
  useTitle("Audit log");
  const filters = {
    userId: query.get("user") ?? "",
    action: oneOf(query, "action", actionKinds.map(([value]) => value)),
    objectId: query.get("object") ?? "",
    ...timesOf(query),
  };
  return (
    <>
      <PageHeader title="Audit log" lead={me.sysadmin ? "Every change, sign-in, key and role, newest first." : "Changes to the dataspaces that you are an admin of, newest first."}>
        <div class="actions">
          <Button icon="check" onClick={() => setHead(true)}>
            Signed head
          </Button>
          {me.sysadmin && (
            <a class="button" href={audit.exportAddress} download>
              <Icon name="download" /> Export
            </a>
          )}
        </div>
      </PageHeader>
      <FilterBar>
        <Choice label="Show" name="action" options={actionKinds} />
        <UserChoice />
        <TimeFilters what="done" />
        <label>
          Id of the object
          <input type="search" spellcheck={false} value={filters.objectId} onChange={(e) => setQuery({ object: e.currentTarget.value.trim() })} />
        </label>
      </FilterBar>
      <Entries
        key={queryOf(filters)}
        create={(page) => audit.list({ ...filters, ...page })}
        more={(e, changed) => <Origin of={e} mayErase={!!me.sysadmin} changed={changed} />}
        empty={<p>{me.sysadmin ? "Nothing matches the filters." : "Admins see the entries of their dataspaces."}</p>}
      />
      {head && (
        <Dialog title="Signed head" onClose={() => setHead(false)}>
          <Head />
        </Dialog>
      )}
    </>
  );
}

function UserChoice() {
  const { query } = useLocation();
  const { value } = useLoad((signal) => users.list({ state: "all" }).all(1000, signal), []);
  return (
    <label>
      By
      <select value={query.get("user") ?? ""} onChange={(e) => setQuery({ user: e.currentTarget.value })}>
        <option value="">anybody</option>
        {value?.items.map((u) => (
          <option key={u.id} value={u.id}>
            {u.fullname || u.username}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The request and the address of an entry. */
function Origin({ of: e, mayErase, changed }: { of: AuditEntry; mayErase: boolean; changed: () => void }) {
  return (
    <p class="origin">
      <span>entry {e.number}</span>
      {e.requestId && (
        <span>
          request <code>{e.requestId}</code>
        </span>
      )}
      {e.address && (
        <span>
          from <code>{e.address}</code>
        </span>
      )}
      {mayErase && (e.texts || e.address) && <EraseTexts of={e} done={changed} />}
    </p>
  );
}

function EraseTexts({ of: e, done }: { of: AuditEntry; done: () => void }) {
  return (
    <ConfirmButton
      kind="quiet"
      class="tight"
      label={
        <>
          Erase texts <span class="visually-hidden">of entry {e.number}</span>
        </>
      }
      confirm={{
        title: `Erase the texts of entry ${e.number}?`,
        action: "Erase",
        submit: () => audit.erase(e.number).then(done),
        children: (
          <div class="prose">
            <p>Its names, descriptions and other texts, and the address that the request came from, are permanently removed. The entry stays, the log still verifies, and another entry records who erased them.</p>
            <p>The object itself and other entries do not change. Earlier backups and exports still contain the texts.</p>
          </div>
        ),
      }}
    />
  );
}

/** The current head, to be stored elsewhere. */
function Head() {
  const { value, problem, reload } = useLoad(() => audit.head(), []);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={4} />;
  return (
    <div class="prose">
      <p>Keep this head where the operator of this service cannot change it. Only such a copy can prove later that these {value.size} entries are unchanged.</p>
      <Code text={value.head} what="the head" />
      <p>The public key of the signature:</p>
      <Code text={value.key} what="the key" />
    </div>
  );
}
