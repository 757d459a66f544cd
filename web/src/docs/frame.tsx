import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, usePlace } from "../router";

/** Anybody can write an address, also one that cannot be decoded. */
function here(): string {
  const hash = location.hash.slice(1);
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

/** The part of the address behind its #, without that. */
export function useHash(): string {
  const [hash, setHash] = useState(here);
  useEffect(() => {
    const update = () => setHash(here());
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return hash;
}

export interface Entry {
  /** Of the part; a mere heading among the contents has none. */
  id?: string;
  label: string;
}

interface Props {
  title: string;
  /** Below the title. */
  lead: ComponentChildren;
  contents: Entry[];
  children: ComponentChildren;
}

const documents = [
  ["/docs", "User guide"],
  ["/docs/interface", "Interface reference"],
] as const;

/** A document with its contents beside it. */
export function Document({ title, lead, contents, children }: Props) {
  const { path } = usePlace();
  const hash = useHash();
  useEffect(() => {
    document.title = `${title} · labshelf`;
  }, [title]);
  // The browser looks for the part that the address names before this text is here.
  useEffect(() => {
    if (hash) document.getElementById(hash)?.scrollIntoView();
  }, [hash, contents.length > 0]);
  return (
    <div class="docs">
      <div class="title">
        <div>
          <h1>{title}</h1>
          <p class="dim">{lead}</p>
        </div>
      </div>
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
