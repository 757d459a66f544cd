import type { PageProps } from "../app";

export function ResourcePage(_: PageProps) {
  return <h1>ResourcePage</h1>;
}
