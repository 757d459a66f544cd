// The latest changes of everything that the user can read, as pictures, and the sets in which the
// user works.
import { useEffect, useState } from "preact/hooks";
import type { Resource } from "../api";
import { queryOf, resources } from "../api";
import { names } from "../find/names";
import { plural } from "../format";
import { Link } from "../router";
import { useMe } from "../session";
import { Badge, ErrorMessage, Time } from "../ui/components";
import { Icon } from "../ui/icons";
import { hasThumbnail, KindIcon, pictureAddress } from "../ui/kinds";
import { type Loaded, useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";
import { UserName } from "../ui/users";
import { noteVisit } from "./visit";

/** The number of requested files: the latest are shown, and all determine the sets in which the
    user works. */
const asked = 60;
const shown = 6;
const mostSets = 6;

interface Recent {
  files: Resource[];
  /** The names of the containers of the shown files. */
  named: Map<string, string>;
  /** The sets whose files the user changed last, with their dataspaces. */
  mine: [setId: string, dataspaceId: string][];
}

/** Loads everything that the page begins with together, to avoid layout shifts. */
export function useRecent(): Loaded<Recent> {
  const me = useMe();
  const recent = useLoad((signal) => loadRecent(me.id, signal), [me.id]);
  useRefreshOnFocus(recent.refresh);
  return recent;
}

async function loadRecent(user: string, signal: AbortSignal): Promise<Recent> {
  const files = (await resources.list({ order: "newest", state: "active", limit: asked }).all(asked, signal)).items;
  const mine = [...new Map(files.filter((r) => r.modifiedBy === user).map((r) => [r.setId, r.dataspaceId])).entries()].slice(0, mostSets);
  const sets = new Set([...files.slice(0, shown).map((r) => r.setId), ...mine.map(([set]) => set)]);
  const dataspaces = new Set(mine.map(([, dataspace]) => dataspace));
  const named = new Map<string, string>();
  // falls back to the id
  const ask = (kind: keyof typeof names) => (id: string) => names[kind].get(id).then((name) => void named.set(id, name), () => {});
  await Promise.all([...[...sets].map(ask("sets")), ...[...dataspaces].map(ask("dataspaces"))]);
  return { files, named, mine };
}

export function RecentFiles({ recent: { value: recent, problem, reload } }: { recent: Loaded<Recent> }) {
  const me = useMe();
  const [before, setBefore] = useState("");
  useEffect(() => setBefore(noteVisit(me.id)), [me.id]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  const value = recent?.files;
  if (!value?.length) return null;
  const isNews = (r: Resource) => !!before && r.modified > before && r.modifiedBy !== me.id;
  const news = value.filter(isNews).length;
  return (
    <section class="start-section" aria-label="Recent files">
      <h2>Recent files</h2>
      {news > 0 && (
        <p class="dim">
          Others have changed {news === asked ? `${news} files or more` : plural(news, "file")} since you were here <Time at={before} />.{" "}
          <Link to={`/search${queryOf({ q: `modified:${before.slice(0, 10)}..` })}`}>Show all</Link>
        </p>
      )}
      <ul class="tiles">
        {value.slice(0, shown).map((r) => (
          <li key={r.id}>
            <Link to={`/resources/${r.id}`} title={r.name}>
              <Picture key={r.sha256} file={r} />
              <span class="tile-name">{r.name.slice(r.name.lastIndexOf("/") + 1)}</span>
            </Link>
            <p class="dim">
              <Link to={`/sets/${r.setId}`}>{recent!.named.get(r.setId) ?? r.setId}</Link>
            </p>
            <p class="dim">
              {isNews(r) && (
                <>
                  <Badge tone="accent">new</Badge>{" "}
                </>
              )}
              <Time at={r.modified} /> · {r.modifiedBy === me.id ? "you" : <UserName id={r.modifiedBy} />}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Picture({ file }: { file: Resource }) {
  const [failed, setFailed] = useState(false);
  const extension = /\.(\w{1,5})$/.exec(file.name)?.[1] ?? "";
  return (
    <span class="tile-picture">
      {hasThumbnail(file) && !failed ? (
        <img src={pictureAddress(file)} alt="" loading="lazy" decoding="async" onError={() => setFailed(true)} />
      ) : (
        <>
          <KindIcon file={file} />
          <span aria-hidden="true">{extension}</span>
        </>
      )}
    </span>
  );
}

/** The sets whose files the user changed last. */
export function YourSets({ recent: { value } }: { recent: Loaded<Recent> }) {
  if (!value?.mine.length) return null;
  return (
    <section class="start-section" aria-label="Your sets">
      <h2>Your sets</h2>
      <ul class="your-sets">
        {value.mine.map(([set, dataspace]) => (
          <li key={set}>
            <Icon name="set" />
            <span>
              <Link to={`/dataspaces/${dataspace}`}>{value.named.get(dataspace) ?? dataspace}</Link> / <Link to={`/sets/${set}`}>{value.named.get(set) ?? set}</Link>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
