// Controls above a listing. Each is a parameter of the address and of the request: the service filters and sorts, never the page.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { setQuery, useLocation } from "../router";
import { Button } from "./components";
import { isNarrow } from "./fold";

export const states = ["active", "deleted", "all"] as const;

/** The states offered inside a deleted container, which has no active content. */
export const statesInDeleted = ["deleted", "active", "all"] as const;

/** The states that a listing offers; the first one is the default. */
export type States = typeof states | typeof statesInDeleted;

/** The value of a parameter of the address if it is one of `values`, else the first of these. */
export function oneOf<T extends string>(query: URLSearchParams, name: string, values: readonly T[]): T {
  const given = query.get(name) as T;
  return values.includes(given) ? given : values[0]!;
}

/** A choice that is stored in the address. The first of `options` is the default and is left out of
    the address. */
export function Choice<T extends string>({
  label,
  name,
  options,
  clears = [],
}: {
  label: string;
  name: string;
  options: readonly (readonly [value: T, text: string])[];
  /** Parameters that a change removes. */
  clears?: string[];
}) {
  const { query } = useLocation();
  const values = options.map(([value]) => value);
  const change = (e: Event) => {
    const value = (e.currentTarget as HTMLSelectElement).value;
    setQuery({ ...Object.fromEntries(clears.map((c) => [c, ""])), [name]: value === values[0] ? "" : value });
  };
  return (
    <label>
      {label}
      <select value={oneOf(query, name, values)} onChange={change}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

const stateLabels = { active: "active", deleted: "deleted", all: "active and deleted" };

export function StateChoice({ offered = states }: { offered?: States }) {
  return <Choice label="Show" name="state" options={offered.map((state) => [state, stateLabels[state]] as const)} />;
}

export const timeOrders = [
  ["oldest", "oldest change first"],
  ["newest", "newest change first"],
] as const;

/** The parameters since and until of the address, in the format of the service. */
export const timesOf = (query: URLSearchParams) => ({ since: query.get("since") ?? "", until: query.get("until") ?? "" });

/** Whether an instant is in a range, as the service interprets it: a time without a zone is in UTC,
    and an empty bound is open. */
export function between({ since, until }: { since: string; until: string }, instant: string): boolean {
  const at = Date.parse(instant);
  const withT = (time: string) => time.toUpperCase().replace(/^(\d{4}-\d\d-\d\d) /, "$1T").replace(" ", "+"); // an offset lost its + in the address
  const read = (time: string) => Date.parse(/T[^Z+-]*$/.test(withT(time)) ? `${withT(time)}Z` : withT(time));
  return !(at < read(since)) && !(at >= read(until));
}

/** Filters by day in UTC; by the last change, unless `what` names another time. The service accepts
    them only with the orders by time. */
export function TimeFilters({ what = "changed" }: { what?: string }) {
  const { query } = useLocation();
  const change = (name: string) => (e: Event) => setQuery({ [name]: (e.currentTarget as HTMLInputElement).value });
  return (
    <>
      <label title={`Only items ${what} on or after this day (UTC)`}>
        {what[0]!.toUpperCase() + what.slice(1)} since
        <input type="date" value={query.get("since")?.slice(0, 10) ?? ""} onChange={change("since")} />
      </label>
      <label title={`Only items ${what} before this day (UTC)`}>
        and before
        <input type="date" value={query.get("until")?.slice(0, 10) ?? ""} onChange={change("until")} />
      </label>
    </>
  );
}

/** The row of filters above a list. A narrow window shows them on demand, or if the address
    contains filters. */
export function FilterBar({ children }: { children: ComponentChildren }) {
  const { query } = useLocation();
  const [open, setOpen] = useState(!isNarrow() || [...query.keys()].some((k) => !/^(folder|view|setId|q)$/.test(k)));
  return (
    <div class={`filters ${open ? "open" : ""}`} role="group" aria-label="Filters">
      <Button kind="quiet" icon="filter" class="unfold" aria-expanded={open} onClick={() => setOpen(!open)}>
        Filter and sort
      </Button>
      {children}
    </div>
  );
}
