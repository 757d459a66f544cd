// Describes the entries of the audit log in words.
import type { ComponentChildren } from "preact";
import type { AuditEntry, Changed } from "../api";
import { metadataLabel } from "../describe/metadata";
import { jsonText } from "../describe/words";
import { size } from "../format";
import { Link } from "../router";
import { Time } from "../ui/components";
import { UserName } from "../ui/users";

/** The kinds of actions that filter the log. */
export const actionKinds = [
  ["", "everything"],
  ["resource.*", "files"],
  ["version.*", "versions of files"],
  ["set.*", "sets"],
  ["dataspace.*", "dataspaces"],
  ["privilege.*", "roles"],
  ["user.*", "users"],
  ["key.*", "keys"],
  ["session.*", "sessions"],
  ["purge.*", "purges"],
  ["webhook.*", "webhooks"],
  ["link.*", "links"],
  ["schema.*", "schemas"],
  ["edit.*", "changes of many files"],
  ["request.*", "refused requests"],
  ["audit.*", "erased texts"],
  ["epoch.*", "restored backups"],
] as const;

/** The fields whose changes are listed below an entry. */
const fieldLabels: Record<string, string> = {
  name: "Name",
  title: "Title",
  description: "Description",
  origin: "Origin",
  format: "Format",
  mimeType: "Type",
  filename: "File name",
  label: "Label",
  username: "Username",
  fullname: "Full name",
  about: "About",
  visibility: "Visibility",
  retention: "Versions kept",
  quota: "Quota (bytes)",
  sysadmin: "Sysadmin",
  extract: "Properties filled from",
  types: "Types of files",
  enforce: "Enforced",
};

/** The label of a field whose changes are listed; undefined for other fields. */
export const labelOf = (field: string): string | undefined => fieldLabels[field] ?? metadataLabel(field);

/** A value of a field as text. */
export const shown = (field: string, text: string) => (field.startsWith("metadata.") ? jsonText(text) : text);

/** The value of a field after a change. */
export const now = (c: Changed | number | undefined): string => (typeof c === "object" ? c.now : String(c ?? ""));
const before = (c: Changed | number | undefined): string => (typeof c === "object" ? c.before : "");

/** Whether an entry about a file contains only its new name. */
export const isRename = (e: AuditEntry) => e.action === "resource.edit" && typeof e.texts?.name === "object" && Object.keys(e.texts).length === 1;

function VersionLink({ of: e, number = e.version }: { of: AuditEntry; number?: number | undefined }) {
  return <Link to={`/resources/${e.objectId}/versions/${number}`}>version {number}</Link>;
}

const bytes = (e: AuditEntry) => e.bytes !== undefined && `, ${size(e.bytes)}`;
const subject = (e: AuditEntry) => (e.subjectId ? <UserName id={e.subjectId} /> : "a user");

/** The description of each action; `about` stands for the object. */
type Words = (e: AuditEntry, about: ComponentChildren) => ComponentChildren;

const simple =
  (verb: string): Words =>
  (_, about) => (
    <>
      {verb} {about}
    </>
  );

const words: Record<string, Words> = {
  "epoch.begin": (e) => (Number(e.values?.size) ? `restored an older state of the metadata, at entry ${now(e.values?.size)}` : "began the audit log"),
  "request.refuse": (e) => (
    <>
      refused requests within a minute: {now(e.values?.unauthenticated) || 0} without a valid key, {now(e.values?.forbidden) || 0} without permission
    </>
  ),
  "audit.erase": (e) => `erased the texts of entry ${now(e.values?.entry)}`,
  "dataspace.create": simple("created"),
  "dataspace.update": simple("changed"),
  "dataspace.delete": simple("deleted"),
  "dataspace.restore": simple("restored"),
  "set.create": simple("created"),
  "set.update": simple("changed"),
  "set.delete": simple("deleted"),
  "set.restore": simple("restored"),
  "resource.create": (e, about) => (
    <>
      uploaded {about}: <VersionLink of={e} />
      {bytes(e)}
    </>
  ),
  "resource.replace": (e, about) => (
    <>
      replaced {about}: <VersionLink of={e} />
      {bytes(e)}
    </>
  ),
  "resource.edit": (e, about) =>
    isRename(e) ? (
      <>
        renamed {about} from <q>{before(e.texts!.name)}</q> to <q>{now(e.texts!.name)}</q>
      </>
    ) : (
      <>changed the details of {about}</>
    ),
  "resource.delete": (e, about) =>
    e.values?.movedTo ? (
      <>
        moved {about} to <Link to={`/resources/${now(e.values.movedTo)}`}>another set</Link>
      </>
    ) : (
      <>deleted {about}</>
    ),
  "resource.copy": (e, about) => (
    <>
      copied <Link to={`/resources/${now(e.values?.from)}`}>another file</Link> to {about}
      {bytes(e)}
    </>
  ),
  "resource.move": (e, about) => (
    <>
      moved {about} here <Link to={`/resources/${now(e.values?.from)}`}>from its previous location</Link>
      {bytes(e)}
    </>
  ),
  "resource.restore": simple("restored"),
  "resource.purge": (e, about) => (
    <>
      permanently removed {about}{bytes(e)}
    </>
  ),
  "version.restore": (e, about) => (
    <>
      restored <VersionLink of={e} number={Number(now(e.values?.restored)) || undefined} /> of {about}: it is now <VersionLink of={e} />
      {bytes(e)}
    </>
  ),
  "version.label": (e, about) => (
    <>
      {now(e.texts?.label) ? "labelled" : e.erased ? "changed the label of" : "removed the label of"} <VersionLink of={e} /> of {about}
    </>
  ),
  "version.erase": (e, about) => (
    <>
      erased <VersionLink of={e} /> of {about}
      {bytes(e)}
    </>
  ),
  "version.purge": (e, about) => (
    <>
      permanently removed <VersionLink of={e} /> of {about}{bytes(e)}
    </>
  ),
  "user.create": simple("created"),
  "user.update": simple("changed"),
  "user.delete": simple("deleted"),
  "user.restore": simple("restored"),
  "key.create": (e) => (
    <>
      created a key of {subject(e)}
      {e.values?.expires && (
        <>
          , which expires <Time at={new Date(Number(now(e.values.expires)) / 1000).toISOString()} />
        </>
      )}
    </>
  ),
  "key.revoke": (e) => <>revoked a key of {subject(e)}</>,
  "key.update": (e) => <>kept a key of {subject(e)} that was created with a revoked one</>,
  "session.begin": () => "signed in with a browser",
  "session.end": () => "ended a session",
  "privilege.grant": (e, about) => (
    <>
      gave {subject(e)} the role {now(e.values?.role)} in {about}
      {before(e.values?.role) && `, before ${before(e.values?.role)}`}
    </>
  ),
  "privilege.revoke": (e, about) => (
    <>
      removed the role {before(e.values?.role)} in {about} from {subject(e)}
    </>
  ),
  "link.create": simple("created"),
  "link.update": simple("changed"),
  "link.take": simple("took over"),
  "link.revoke": simple("revoked"),
  "webhook.create": simple("created"),
  "webhook.update": simple("changed"),
  "webhook.delete": simple("removed"),
  "webhook.rotate": simple("rotated the secret of"),
  "webhook.pause": simple("paused"),
  "webhook.resume": simple("resumed"),
  "webhook.skip": simple("skipped messages of"),
  "schema.create": simple("made"),
  "schema.update": (e, about) => (e.values?.version ? <>changed {about}: it is now version {now(e.values.version)}</> : <>changed {about}</>),
  "schema.delete": simple("deleted"),
  "schema.restore": simple("restored"),
  "edit.begin": () => "changed the metadata of many files",
  "edit.undo": () => "undid a change of many files",
  "purge.run": (e) => `purged items deleted for longer than ${now(e.values?.olderThan)}`,
};

/** Describes an entry. For an unknown action of a later version it returns the name of the action.
 */
export const wordsOf: Words = (e, about) => (words[e.action] ?? simple(`did ${e.action} on`))(e, about);
