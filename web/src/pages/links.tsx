import { useState } from "preact/hooks";
import type { LinkFields, LinkRecord } from "../api";
import { dataspaces, links, queryOf, sets } from "../api";
import { count, plural, size } from "../format";
import { LinkForm } from "../links/form";
import { InvitationForm } from "../links/invite";
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

/** The maximum number of links on the page. */
const most = 1000;

/** The links that the user can manage: their own, and links of dataspaces that they administer. */
export function LinksPage() {
  const { query } = useLocation();
  const setId = query.get("setId") ?? "";
  const filters = { setId, userId: query.get("of") === "me" ? "me" : "", state: oneOf(query, "state", ["active", "deleted", "all"]) };
  const { value, problem, reload, refresh } = useLoad((signal) => links.list({ ...filters, limit: most }).all(most, signal), [queryOf(filters)]);
  const [changing, setChanging] = useState<LinkRecord | undefined>();
  useTitle("Links");
  useRefreshOnFocus(refresh);
  const change = changing && {
    was: changing,
    submit: async (fields: LinkFields) => {
      await links.edit(changing.id, fields);
      setChanging(undefined);
      reload();
    },
    cancel: () => setChanging(undefined),
  };
  const newestFirst = value && [...value.items].reverse();
  return (
    <>
      <PageHeader title="Links" lead={setId ? <>Links of <SetName id={setId} />. <Link to="/links">Links of all sets</Link></> : "Links let people without an account download files, upload files, or create an account."} />
      <FilterBar>
        <Choice label="Show" name="state" options={[["active", "not revoked"], ["deleted", "revoked"], ["all", "all"]]} />
        <Choice label="Owner" name="of" options={[["", "anybody"], ["me", "you"]]} />
      </FilterBar>
      {problem && <ErrorMessage problem={problem} retry={reload} />}
      {!value && !problem && <Skeleton lines={6} />}
      {newestFirst?.length === 0 && (
        <Empty icon="share" title="No links">
          <p>
            To create a link, press <strong>Share</strong> on the page of a set or a file. To invite people, press it on the page of a dataspace.
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
      {value && !value.complete && <p class="hint">Only the oldest links are shown. Use the API to list all of them.</p>}
      {changing && change && (
        <Dialog title={`Change ${nameOf(changing)}`} onClose={() => setChanging(undefined)}>
          {changing.kind === "invitation" ? <InvitationForm {...change} /> : <LinkForm kind={changing.kind} {...change} />}
        </Dialog>
      )}
    </>
  );
}

const setNames = new Cache((id) => sets.get(id).then((s) => s.title || s.name));

const spaceNames = new Cache((id) => dataspaces.get(id).then((d) => d.title || d.name));

/** The name of a dataspace; the id if it is not readable. */
function SpaceName({ id }: { id: string }) {
  const { value } = useLoad(() => spaceNames.get(id), [id]);
  return <Link to={`/dataspaces/${id}`}>{value ?? id}</Link>;
}

/** The name of a set; the id if it is not readable. */
function SetName({ id }: { id: string }) {
  const { value } = useLoad(() => setNames.get(id), [id]);
  return <Link to={`/sets/${id}`}>{value ?? id}</Link>;
}

const nameOf = (l: LinkRecord) => l.label || (l.kind === "invitation" ? "an invitation without a name" : "a link without a label");

const stateWords = { active: "active", expired: "expired", revoked: "revoked", used_up: "used up" };

/** The use count of a link, and its limit. */
function usesOf({ kind, uses, maxUses, bytesReceived }: LinkRecord): string {
  if (kind === "invitation") return uses ? "accepted" : "not accepted yet";
  const noun = kind === "share" ? "download" : "file";
  const used = maxUses ? `${count(uses)} of ${plural(maxUses, noun)}` : plural(uses, noun);
  return kind === "share" ? used : `${used}, ${size(bytesReceived)}`;
}

/** The permissions of a link. */
function About({ of: l }: { of: LinkRecord }) {
  if (l.kind === "invitation") return l.dataspaceId ? <>Invites one person as {l.role} into <SpaceName id={l.dataspaceId} /></> : <>Invites one person to have an account</>;
  return (
    <>
      {l.kind === "share" ? "Shows " : "Asks for files into "}
      {!!l.resourceIds?.length && `${plural(l.resourceIds.length, "file")} of `}
      {l.folder && `${l.folder} in `}
      {l.setId && <SetName id={l.setId} />}
    </>
  );
}

function Row({ of: l, change, changed }: { of: LinkRecord; change: () => void; changed: () => void }) {
  const me = useMe();
  const accepted = l.kind === "invitation" && l.uses > 0;
  const ended = l.state === "revoked" || accepted;
  const about = <span class="visually-hidden">{nameOf(l)}</span>;
  return (
    <li>
      <div>
        <p>
          <strong>{l.label || "No label"}</strong> <Badge tone={l.state === "active" || accepted ? "good" : "bad"}>{accepted ? "accepted" : stateWords[l.state]}</Badge> {l.hasPassword && <Badge>password</Badge>}
        </p>
        <p class="dim">
          <About of={l} /> · made <Time at={l.created} />, owned by {l.ownerId === me.id ? "you" : <UserName id={l.ownerId} />}
        </p>
        <p class="dim">
          {usesOf(l)}
          {l.lastUsed && (
            <>
              {l.kind === "invitation" ? " " : ", the last "}
              <Time at={l.lastUsed} />
            </>
          )}
          {l.unfinishedUploads > 0 && ` · ${plural(l.unfinishedUploads, "unfinished upload")}, ${size(l.unfinishedBytes)}`}
          {!accepted && <> · {l.expires ? <>expires <Time at={l.expires} /></> : "never expires"}</>}
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
                children: <p>You become its owner. Visitors can then do what your role allows, and the link continues to work if its previous owner loses the role.</p>,
              }}
            />
          )}
          {l.unfinishedUploads > 0 && (
            <ConfirmButton
              class="tight"
              label={<>End uploads {about}</>}
              confirm={{
                title: "End the unfinished uploads?",
                action: "End uploads",
                submit: () => links.endUploads(l.id).then(changed),
                children: <p>Their partial data is removed and no longer counts towards the quota. Complete files stay. Visitors can start again.</p>,
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
                  <strong>{nameOf(l)}</strong> stops working immediately for everyone. This cannot be undone.
                </p>
              ),
            }}
          />
        </div>
      )}
    </li>
  );
}
