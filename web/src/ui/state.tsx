// Controls above a listing. Each is a parameter of the address, and of the request: the service filters and sorts, never the page.
import type { ComponentChildren } from "preact";
import { setQuery, usePlace } from "../router";

export const states = ["active", "deleted", "all"] as const;

/** The same for what is in something that is deleted: nothing of it is active. */
export const statesWithin = ["deleted", "active", "all"] as const;

/** What a parameter of the address says, if it is one of those that it may be; else the first of them. */
export function oneOf<T extends string>(query: URLSearchParams, name: string, known: readonly T[]): T {
  const given = query.get(name) as T;
  return known.includes(given) ? given : known[0]!;
}

/** A choice that is kept in the address. The first of `options` is the default, and leaves no trace there. */
export function Choice<T extends string>({
  label,
  name,
  options,
  clears = [],
}: {
  label: string;
  name: string;
  options: readonly (readonly [value: T, text: string])[];
  /** Parameters that do not go with another choice. */
  clears?: string[];
}) {
  const { query } = usePlace();
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

const called = { active: "active", deleted: "deleted", all: "active and deleted" };

/** Whether active, deleted, or all are shown. The first of `known` is the default. */
export function StateChoice({ known = states }: { known?: typeof states | typeof statesWithin }) {
  return <Choice label="Show" name="state" options={known.map((state) => [state, called[state]] as const)} />;
}

/** The row above a list. */
export function Tools({ children }: { children: ComponentChildren }) {
  return (
    <div class="tools" role="group" aria-label="What is listed">
      {children}
    </div>
  );
}
