// The filters by time of last change. They go with the two orders by time only: the service refuses them beside names.
import { setQuery, usePlace } from "../router";

export const orders = [
  ["oldest", "oldest change first"],
  ["newest", "newest change first"],
] as const;

/** What the address says about since and until, as the service takes it. */
export const timesOf = (query: URLSearchParams) => ({ since: query.get("since") ?? "", until: query.get("until") ?? "" });

/** Whether an instant is between two times, as the service reads them: without a zone they are in UTC. */
export function between({ since, until }: { since: string; until: string }, instant: string): boolean {
  const at = Date.parse(instant);
  const read = (time: string) => Date.parse(/T[^Z+-]*$/.test(time) ? `${time}Z` : time);
  return !(at < read(since)) && !(at >= read(until)); // an empty one is no bound
}

/** From and until a day, in UTC as the service reads days. "Until" is exclusive: its first instant. */
export function TimeFilters() {
  const { query } = usePlace();
  const change = (name: string) => (e: Event) => setQuery({ [name]: (e.currentTarget as HTMLInputElement).value });
  return (
    <>
      <label title="Only what was changed after the first instant of this day (UTC)">
        Changed since
        <input type="date" value={query.get("since")?.slice(0, 10) ?? ""} onChange={change("since")} />
      </label>
      <label title="Only what was changed before the first instant of this day (UTC)">
        and before
        <input type="date" value={query.get("until")?.slice(0, 10) ?? ""} onChange={change("until")} />
      </label>
    </>
  );
}
