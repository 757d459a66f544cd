import type { PageProps } from "../app";

export function UsersPage(_: PageProps) {
  return <h1>UsersPage</h1>;
}
