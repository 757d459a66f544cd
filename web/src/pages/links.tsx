import { useState } from "preact/hooks";
import type { LinkRecord } from "../api";
import { links, queryOf, sets } from "../api";
import { count, plural, size } from "../format";
import { LinkForm } from "../links/form";
import { Link, useLocation } from "../router";
import { useMe } from "../session";
import { Cache } from "../ui/cache";
import { Badge, Button, Empty, ErrorMessage, PageHeader, Skeleton, Time } from "../ui/components";
import { ConfirmButton, Dialog } from "../ui/dialog";
import { Choice, FilterBar, oneOf } from "../ui/filters";
import { useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";
import { useTitle } from "../ui/title";
import { UserName } from "../ui/users";

/** Links that the page shows. */
const most = 1000;

/** The links that the user may manage: the user's own, and those of dataspaces that the user is an admin of. */
export function LinksPage() {
  const { query } = useLocation();
  const setId = query.get("setId") ?? "";
  const filters = { setId, userId: query.get("of") === "me" ? "me" : "", state: oneOf(query, "state", ["active", "deleted", "all"]) };
  const { value, problem, reload, refresh } = useLoad((signal) => links.list({ ...filters, limit: most }).all(most, signal), [queryOf(filters)]);
  const [changing, setChanging] = useState<LinkRecord | undefined>();
  useTitle("Links");
  useRefreshOnFocus(refresh);
  const newestFirst = value && [...value.items].reverse();
  return (
    <>
      <PageHeader title="Links" lead={setId ? <>Those of <SetName id={setId} />. <Link to="/links">Links of all sets</Link></> : "By these, people without an account get files, or send some."} />
      <FilterBar>
        <Choice label="Show" name="state" options={[["active", "not revoked"], ["deleted", "revoked"], ["all", "all"]]} />
        <Choice label="Owner" name="of" options={[["", "anybody"], ["me", "you"]]} />
      </FilterBar>
      {problem && <ErrorMessage problem={problem} retry={reload} />}
      {!value && !problem && <Skeleton lines={6} />}
      {newestFirst?.length === 0 && (
        <Empty icon="share" title="No links">
          <p>
            <strong>Share …</strong> on the page of a set or a file makes one.
          </p>
        </Empty>
      )}
      {newestFirst && newestFirst.length > 0 && (
        <ul class="plain-list link-list" aria-label="Links">
          {newestFirst.map((l) => (
            <Row key={l.id} of={l} change={() => setChanging(l)} changed={reload} />
          ))}
        </ul>
      )}
      {value && !value.complete && <p class="hint">There are more, newer links. The interface lists all of them.</p>}
      {changing && (
        <Dialog title={`Change ${nameOf(changing)}`} onClose={() => setChanging(undefined)}>
          <LinkForm
            kind={changing.kind}
            was={changing}
            submit={async (fields) => {
              await links.edit(changing.id, fields);
              setChanging(undefined);
              reload();
            }}
            cancel={() => setChanging(undefined)}
          />
        </Dialog>
      )}
    </>
  );
}

const setNames = new Cache((id) => sets.get(id).then((s) => s.title || s.name));

/** The name of a set; the id if it may not be read. */
function SetName({ id }: { id: string }) {
  const { value } = useLoad(() => setNames.get(id), [id]);
  return <Link to={`/sets/${id}`}>{value ?? id}</Link>;
}

const nameOf = (l: LinkRecord) => l.label || "a link without a label";

const stateWords = { active: "active", expired: "expired", revoked: "revoked", used_up: "used up" };

/** How often a link was used, of how often it may be. */
function usesOf({ kind, uses, maxUses, bytesReceived }: LinkRecord): string {
  const noun = kind === "share" ? "download" : "file";
  const used = maxUses ? `${count(uses)} of ${plural(maxUses, noun)}` : plural(uses, noun);
  return kind === "share" ? used : `${used}, ${size(bytesReceived)}`;
}

function Row({ of: l, change, changed }: { of: LinkRecord; change: () => void; changed: () => void }) {
  const me = useMe();
  const ended = l.state === "revoked";
  const about = <span class="visually-hidden">{nameOf(l)}</span>;
  return (
    <li>
      <div>
        <p>
          <strong>{l.label || "No label"}</strong> <Badge tone={l.state === "active" ? "good" : "bad"}>{stateWords[l.state]}</Badge> {l.hasPassword && <Badge>password</Badge>}
        </p>
        <p class="dim">
          {l.kind === "share" ? "Shows " : "Asks for files into "}
          {l.resourceIds && `${plural(l.resourceIds.length, "file")} of `}
          {l.folder && `${l.folder} in `}
          <SetName id={l.setId} /> · made <Time at={l.created} />, owned by {l.ownerId === me.id ? "you" : <UserName id={l.ownerId} />}
        </p>
        <p class="dim">
          {usesOf(l)}
          {l.lastUsed && (
            <>
              , the last <Time at={l.lastUsed} />
            </>
          )}{" "}
          · {l.expires ? <>expires <Time at={l.expires} /></> : "never expires"}
        </p>
      </div>
      {!ended && (
        <div class="actions">
          {l.ownerId !== me.id && (
            <ConfirmButton
              class="tight"
              label={<>Take over {about}</>}
              confirm={{
                title: "Take this link over?",
                action: "Take over",
                submit: () => links.take(l.id).then(changed),
                children: <p>You own it from then on. It lets visitors do what you may, and goes on when its owner loses the role.</p>,
              }}
            />
          )}
          <Button class="tight" onClick={change}>
            Change {about}
          </Button>
          <ConfirmButton
            class="tight"
            kind="danger"
            label={<>Revoke {about}</>}
            confirm={{
              title: "Revoke this link?",
              action: "Revoke",
              submit: () => links.revoke(l.id).then(changed),
              children: (
                <p>
                  <strong>{nameOf(l)}</strong> ends at once, for everybody who has it. That cannot be undone.
                </p>
              ),
            }}
          />
        </div>
      )}
    </li>
  );
}
