import type { PageProps } from "../app";

export function AccountPage(_: PageProps) {
  return <h1>AccountPage</h1>;
}
