// The query string of the search, as far as the pages edit it. The service parses it.

const plain = /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u;

/** A condition, such as tag:ice or creator:"Curie, Marie". */
export const condition = (field: string, value: string) => `${field}:${plain.test(value) ? value : `"${value.replaceAll('"', '""')}"`}`;

/** The address of a search. */
export const searchAddress = (q: string, order = "") => `/search?q=${encodeURIComponent(q).replaceAll("%20", "+")}${order && `&order=${order}`}`;

/** The address of a search for a value in a field. */
export const searchFor = (field: string, value: string) => searchAddress(condition(field, value));

/** The conditions of a query, separated by unquoted spaces. */
export const conditions = (q: string): string[] => q.match(/(?:"(?:[^"]|"")*"?|[^\s"])+/g) ?? [];

const same = (a: string, b: string) => a.localeCompare(b, undefined, { sensitivity: "accent" }) === 0;

export const has = (q: string, one: string) => conditions(q).some((c) => same(c, one));

/** The query with a condition added, or removed if it is present. */
export const toggled = (q: string, one: string) => (has(q, one) ? conditions(q).filter((c) => !same(c, one)) : [...conditions(q), one]).join(" ");
