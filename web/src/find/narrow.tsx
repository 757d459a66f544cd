// Counts of hits by common values. Each links to the search with that condition added, or removed
// if it is active.
import type { Count, Found } from "../api";
import { count } from "../format";
import { Link } from "../router";
import { Icon } from "../ui/icons";
import { condition, has, searchAddress, toggled } from "./query";

const kindWords: Record<string, string> = { dataspace: "Dataspaces", set: "Sets", resource: "Files" };

interface Group {
  of: keyof NonNullable<Found["counts"]>;
  title: string;
  /** The condition of a value. */
  condition: (c: Count) => string;
  label?: (c: Count) => string;
}

const orcid = /\b\d{4}-\d{4}-\d{4}-\d{3}[\dX]\b/;

const groups: Group[] = [
  { of: "kinds", title: "Kind", condition: ({ value }) => condition("type", value === "resource" ? "file" : String(value)), label: ({ value }) => kindWords[value] ?? String(value) },
  { of: "dataspaces", title: "Dataspace", condition: ({ value, name }) => condition("in", name ?? String(value)), label: ({ value, name }) => name ?? String(value) },
  { of: "tags", title: "Tag", condition: ({ value }) => condition("tag", String(value)) },
  { of: "creators", title: "Creator", condition: ({ value }) => condition("creator", orcid.exec(String(value))?.[0] ?? String(value)) },
  { of: "years", title: "Year", condition: ({ value }) => condition("year", String(value)) },
];

export function NarrowDown({ q, order, counts }: { q: string; order: string; counts: NonNullable<Found["counts"]> }) {
  return (
    <nav class="narrow-down" aria-label="Narrow down">
      {groups.map(({ of, title, condition: conditionOf, label = (c) => String(c.value) }) =>
        counts[of].length ? (
          <section key={of} aria-label={title}>
            <h2>{title}</h2>
            <ul>
              {counts[of].map((c) => {
                const one = conditionOf(c);
                return (
                  <li key={c.value}>
                    <Link to={searchAddress(toggled(q, one), order)} title={has(q, one) ? `Search without ${one}` : `Narrow down to ${one}`} aria-current={has(q, one) ? "page" : undefined}>
                      {has(q, one) && <Icon name="check" />}
                      <span class="clip">{label(c)}</span> <span class="dim num">{count(c.count)}</span>
                    </Link>
                  </li>
                );
              })}
            </ul>
          </section>
        ) : null,
      )}
    </nav>
  );
}
