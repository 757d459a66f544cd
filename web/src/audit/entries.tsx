import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { AuditEntry, Listing } from "../api";
import { dataspaces, resources, sets } from "../api";
import { plural } from "../format";
import { Link } from "../router";
import { Badge, Button, Empty, ErrorMessage, Skeleton, Time } from "../ui/components";
import { Cache } from "../ui/cache";
import { useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";
import { UserName } from "../ui/users";
import { isRename, labelOf, now, shown, wordsOf } from "./actions";

/** The number of entries that a click adds. */
const pageSize = 100;

const nouns: Record<string, string> = { dataspace: "the dataspace", set: "the set", resource: "the file", user: "the user", key: "the key", webhook: "the webhook", schema: "the schema", edit: "the change", link: "the link" };

const names = {
  dataspace: new Cache((id) => dataspaces.get(id).then((d) => d.title || d.name)),
  set: new Cache((id) => sets.get(id).then((s) => s.title || s.name)),
  resource: new Cache((id) => resources.get(id).then((r) => r.name)),
};

/** An object with its kind, and a link to its page. */
export function ObjectLink({ of: e }: { of: AuditEntry }) {
  const { objectKind: kind = "", objectId: id = "" } = e;
  return (
    <>
      {nouns[kind]} {kind in names ? <NamedLink kind={kind as keyof typeof names} id={id} /> : kind === "user" ? <UserName id={id} /> : id}
    </>
  );
}

/** The current name of an object; the id until it is loaded. */
function NamedLink({ kind, id }: { kind: keyof typeof names; id: string }) {
  const { value } = useLoad(() => names[kind].get(id), [kind, id]);
  return (
    <Link to={`/${kind}s/${id}`} title={id}>
      {value ?? id}
    </Link>
  );
}

interface Props {
  create: (query: { limit: number }) => Listing<AuditEntry>;
  /** Whether the entries are about one object, which the page names. */
  single?: true;
  /** The histories that contain the causes of these entries. */
  causesIn?: Listing<AuditEntry>[];
  /** Further content of a row, such as its origin. */
  more?: (e: AuditEntry, changed: () => void) => ComponentChildren;
  empty: ComponentChildren;
}

/** Entries of the audit log, newest first. Key it by the filters. */
export function Entries({ create, single, causesIn = [], more, empty }: Props) {
  const wanted = useRef(pageSize);
  const { value, problem, reload, refresh } = useLoad(async (signal) => {
    const { items, complete } = await create({ limit: pageSize }).all(wanted.current, signal);
    const byNumber = new Map(items.map((e) => [e.number, e]));
    if (items.some((e) => e.cause && !byNumber.has(e.cause))) {
      const others = await Promise.all(causesIn.map((listing) => listing.all(1000, signal)));
      for (const e of others.flatMap((o) => o.items)) byNumber.set(e.number, e);
    }
    return { items, complete, byNumber };
  }, []);
  useRefreshOnFocus(refresh);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={8} />;
  if (!value.items.length) return <Empty icon="clock" title="No entries">{empty}</Empty>;
  const showMore = () => {
    wanted.current = value.items.length + pageSize;
    reload();
  };
  return (
    <>
      <ol class="entries" aria-label="Entries">
        {value.items.map((e) => (
          <li key={e.number}>
            <p>
              <strong>{e.userId ? <UserName id={e.userId} /> : "The service or its operator"}</strong> {wordsOf(e, single ? nouns[e.objectKind ?? ""] : <ObjectLink of={e} />)}
              {e.cause && <Cause of={e} entry={value.byNumber.get(e.cause)} />} <span class="dim when"><Time at={e.time} /></span>
            </p>
            <Changes of={e} />
            {more?.(e, reload)}
          </li>
        ))}
      </ol>
      <p class="dim" role="status">
        {plural(value.items.length, "entry", "entries")}
        {!value.complete && " so far"}
      </p>
      {!value.complete && <Button onClick={showMore}>Show more</Button>}
    </>
  );
}

/** The cause of an entry that no user requested directly. */
function Cause({ of: e, entry }: { of: AuditEntry; entry: AuditEntry | undefined }) {
  if (e.action.endsWith(".purge")) return <>, by a purge</>;
  if (!entry?.objectId) return <>, a consequence of entry {e.cause}</>;
  return (
    <>
      {" "}
      with <ObjectLink of={entry} />
    </>
  );
}

/** The changed fields, before and after. */
function Changes({ of: e }: { of: AuditEntry }) {
  const fields = Object.entries({ ...e.texts, ...e.values }).filter(([name]) => labelOf(name) && !(name === "name" && isRename(e)));
  return (
    <>
      {fields.length > 0 && (
        <dl class="changes">
          {fields.map(([name, change]) => (
            <div key={name}>
              <dt>{labelOf(name)}</dt>
              <dd>
                {typeof change === "object" && (
                  <>
                    <del>{shown(name, change.before)}</del> <span role="img" aria-label="is now">→</span>{" "}
                  </>
                )}
                <ins>{shown(name, now(change)) || <span class="dim">nothing</span>}</ins>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {e.erased && <Badge tone="bad">texts erased</Badge>}
    </>
  );
}
