import type { PageProps } from "../app";

export function SetPage(_: PageProps) {
  return <h1>SetPage</h1>;
}
