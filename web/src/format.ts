// Sizes, times and counts for people, rounded. The exact value belongs in a tooltip: Size and Time in ui/components.tsx.

const units = ["B", "kB", "MB", "GB", "TB", "PB"];

/** Bytes in decimal units: 1 kB = 1,000 bytes. */
export function size(bytes: number): string {
  let at = 0;
  let n = bytes;
  while (n >= 999.5 && at < units.length - 1) {
    n /= 1000;
    at++;
  }
  return `${at === 0 || n >= 99.95 ? Math.round(n) : n.toFixed(1)} ${units[at]}`;
}

const integer = new Intl.NumberFormat("en");

export const count = (n: number) => integer.format(n);

/** A count with its noun. */
export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

/** An instant relative to now within the last week; older instants as date. */
export function ago(instant: string, now = Date.now()): string {
  const seconds = (Date.parse(instant) - now) / 1000;
  const past = Math.abs(seconds);
  if (Number.isNaN(seconds)) return "";
  if (past < 45) return "just now";
  if (past < 45 * 60) return relative.format(Math.round(seconds / 60), "minute");
  if (past < 22 * 3600) return relative.format(Math.round(seconds / 3600), "hour");
  if (past < 7 * 24 * 3600) return relative.format(Math.round(seconds / 86400), "day");
  return day.format(new Date(instant));
}

/** A duration, to the second or, from an hour on, to the minute. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "";
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** The day of an instant in UTC, such as 2027-01-31. */
export const dayOf = (instant: string) => instant.slice(0, 10);

/** The day in UTC after this many days. */
export const inDays = (days: number) => dayOf(new Date(Date.now() + days * 86_400_000).toISOString());
