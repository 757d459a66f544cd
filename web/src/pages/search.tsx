import { useEffect, useRef, useState } from "preact/hooks";
import type { Found, Hit } from "../api";
import { queryOf, search } from "../api";
import { hitColumns } from "../find/hits";
import { NarrowDown } from "../find/narrow";
import { conditions, searchAddress, toggled } from "../find/query";
import { plural } from "../format";
import { Link, useLocation } from "../router";
import { Copy, Empty, PageHeader } from "../ui/components";
import { Choice, FilterBar, oneOf } from "../ui/filters";
import { Icon } from "../ui/icons";
import { VirtualList } from "../ui/list";
import { ForPrograms } from "../ui/programs";
import { useTitle } from "../ui/title";

const orders = [
  ["relevance", "best match first"],
  ["newest", "newest change first"],
  ["oldest", "oldest change first"],
  ["name", "by name"],
] as const;

/** The delay before a search is repeated while the index is catching up, in ms. */
const catchUp = 2000;

/** The search results. The address is the search, so it can be bookmarked. */
export function SearchPage() {
  const { query } = useLocation();
  const q = (query.get("q") ?? "").trim();
  useTitle(q ? `${q} · Search` : "Search");
  if (!q) return <Nothing />;
  return <Results q={q} order={oneOf(query, "order", orders.map(([value]) => value))} />;
}

function Results({ q, order }: { q: string; order: string }) {
  const filters = { q, order: order === "relevance" ? "" : order };
  const id = queryOf(filters);
  const [found, setFound] = useState<{ id: string; all: Found; behind: number } | undefined>();
  const [version, setVersion] = useState(0);
  const latest = useRef(id);
  latest.current = id;
  /** Stores the totals of all hits. A page of an earlier search can arrive later. */
  const note = (page: Found) => id === latest.current && setFound((was) => ({ id, all: page.counts || was?.id !== id ? page : was.all, behind: page.behind ?? 0 }));
  const behind = found?.behind ?? 0;
  useEffect(() => {
    if (!behind) return;
    const timer = setTimeout(() => setVersion((n) => n + 1), catchUp);
    return () => clearTimeout(timer);
  }, [found]);
  const { total, counts } = found?.all ?? {};
  return (
    <>
      <PageHeader title="Search" lead={total ? `${plural(total, "hit")}. Bookmark this page to keep the search.` : "Searches everything that you can read."} />
      <FilterBar>
        <Choice label="Order" name="order" options={orders} />
        <Copy text={location.href} what="the address of the search" icon="link">
          Address
        </Copy>
        <ForPrograms path={`/search${id}`} />
        <Link to="/docs#search" class="button quiet">
          <Icon name="book" /> How to search
        </Link>
      </FilterBar>
      {behind > 0 && (
        <p class="note" role="status">
          The search is catching up: {plural(behind, "change")} {behind === 1 ? "is" : "are"} not in it yet. Until then some hits can be missing. This list updates automatically.
        </p>
      )}
      <div class="results">
        <VirtualList<Hit>
          id={id}
          version={version}
          create={() => search.list(filters, note)}
          keyOf={(hit) => hit.record.id}
          label="Hits"
          noun={["hit", "hits"]}
          kind="hits"
          columns={hitColumns}
          empty={<NoHits q={q} order={filters.order} />}
        />
        {counts && <NarrowDown q={q} order={filters.order} counts={counts} />}
      </div>
    </>
  );
}

function NoHits({ q, order }: { q: string; order: string }) {
  const all = conditions(q);
  return (
    <Empty icon="search" title="Nothing found">
      <p>All words and conditions must match the same file, set or dataspace. The beginning of a word is enough.</p>
      {all.length > 1 && (
        <p>
          Search without{" "}
          {all.map((one, i) => (
            <>
              {i > 0 && ", "}
              <Link to={searchAddress(toggled(q, one), order)}>{one}</Link>
            </>
          ))}
          ?
        </p>
      )}
    </Empty>
  );
}

const examples = [
  ["ice core", "both words, anywhere in names, descriptions, tags, properties, creators and the text of files"],
  ['"ice core"', "the words next to each other"],
  ["temp -raw", "words that begin with temp, but not the word raw"],
  ["tag:ice type:csv", "CSV files with the tag ice"],
  ["in:physics/raw modified:2026-01..", "content of a set that changed since January"],
  ["temperature:>20C", "a property, in any unit"],
  ["by:ada size:>1GB", "large files that Ada uploaded"],
] as const;

function Nothing() {
  return (
    <>
      <PageHeader title="Search" lead="Finds dataspaces, sets and files that you can read." />
      <p>Type words into the field at the top; the key / goes there from every page.</p>
      <dl class="examples">
        {examples.map(([q, what]) => (
          <>
            <dt>
              <Link to={searchAddress(q)}>
                <code>{q}</code>
              </Link>
            </dt>
            <dd class="dim">{what}</dd>
          </>
        ))}
      </dl>
      <p>
        <Link to="/docs#search">How to search</Link>
      </p>
    </>
  );
}
