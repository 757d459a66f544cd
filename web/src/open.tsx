// Pages of open data for visitors without a session.
import type { ComponentChildren } from "preact";
import type { Dataspace, DataSet, Resource } from "./api";
import { base } from "./api";
import { Link } from "./router";
import { ErrorMessage, Skeleton, Time } from "./ui/components";
import { asProblem, useLoad } from "./ui/load";
import { useTitle } from "./ui/title";

/** The subject of a page. */
export type OpenObject = Dataspace | DataSet | Resource;

interface Props {
  load: () => Promise<OpenObject>;
  /** Shown if it is not open or does not exist, without distinction. */
  signIn: ComponentChildren;
  /** The page. */
  children: ComponentChildren;
}

export function OpenPage({ load, signIn, children }: Props) {
  const { value, problem, reload } = useLoad(() => load().then((of) => ({ of }), closed), []);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={10} />;
  if (!value.of) return <>{signIn}</>;
  return value.of.state === "deleted" ? <Gone of={value.of} /> : <>{children}</>;
}

function closed(thrown: unknown): { of?: OpenObject } {
  if (asProblem(thrown).status === 401) return {};
  throw thrown;
}

function Gone({ of }: { of: OpenObject }) {
  const name = ("title" in of && of.title) || of.name;
  useTitle(name);
  return (
    <>
      <h1>{name}</h1>
      <p class="note" role="status">
        This was deleted <Time at={of.modified} />
      </p>
    </>
  );
}

/** The open dataspaces, from the home page that the service sends to visitors without a session. */
export function OpenDataspaces() {
  const { value } = useLoad(loadOpenDataspaces, []);
  if (!value?.length) return null;
  return (
    <section class="open-data">
      <h2>Open data</h2>
      <ul class="plain-list">
        {value.map(({ path, name }) => (
          <li key={path}>
            <Link to={path}>{name}</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function loadOpenDataspaces(signal: AbortSignal) {
  const answer = await fetch(`${base}/`, { signal, credentials: "omit", headers: { Accept: "text/html" } });
  // runs no scripts
  const page = new DOMParser().parseFromString(answer.ok ? await answer.text() : "", "text/html");
  const found = [];
  for (const a of page.querySelectorAll<HTMLAnchorElement>("main li > a[href]")) {
    const id = /\/dataspaces\/(\w+)$/.exec(a.getAttribute("href")!)?.[1];
    if (id) found.push({ path: `/dataspaces/${id}`, name: a.textContent });
  }
  return found;
}
