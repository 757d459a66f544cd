import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { listen } from "../events";
import { decodedOrRaw, Link, useLocation } from "../router";
import { PageHeader } from "../ui/components";
import { useTitle } from "../ui/title";

const currentHash = () => decodedOrRaw(location.hash.slice(1));

/** The hash of the address, decoded, without the #. */
export function useHash(): string {
  const [hash, setHash] = useState(currentHash);
  useEffect(() => listen(window, "hashchange", () => setHash(currentHash())), []);
  return hash;
}

export interface Entry {
  /** The id of the section; a heading within the contents has no id. */
  id?: string;
  label: string;
}

interface Props {
  title: string;
  lead: ComponentChildren;
  contents: Entry[];
  children: ComponentChildren;
}

const documents = [
  ["/docs", "User guide"],
  ["/docs/interface", "API reference"],
  ["/docs/manual", "Manual"],
] as const;

/** The layout of a document with its table of contents. */
export function DocumentLayout({ title, lead, contents, children }: Props) {
  const { path } = useLocation();
  const hash = useHash();
  useTitle(title);
  // The browser scrolls to the hash before the text is rendered.
  useEffect(() => {
    if (hash) document.getElementById(hash)?.scrollIntoView();
  }, [hash, contents.length > 0]);
  return (
    <div class="docs">
      <PageHeader title={title} lead={lead} />
      <nav class="tabs" aria-label="Documents">
        {documents.map(([to, label]) => (
          <Link key={to} to={to} aria-current={path === to ? "page" : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      <div class="columns">
        <nav class="contents" aria-label="Contents">
          <ul>
            {contents.map(({ id, label }) => (
              <li key={id ?? label}>{id ? <a href={`#${id}`}>{label}</a> : <strong>{label}</strong>}</li>
            ))}
          </ul>
        </nav>
        <div class="text">{children}</div>
      </div>
    </div>
  );
}
