import type { PageProps } from "../app";

export function ServicePage(_: PageProps) {
  return <h1>ServicePage</h1>;
}
