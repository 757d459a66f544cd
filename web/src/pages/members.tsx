import type { PageProps } from "../app";

export function MembersPage(_: PageProps) {
  return <h1>MembersPage</h1>;
}
