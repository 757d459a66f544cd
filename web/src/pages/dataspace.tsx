import type { PageProps } from "../app";

export function DataspacePage(_: PageProps) {
  return <h1>DataspacePage</h1>;
}
