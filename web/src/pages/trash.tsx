import type { PageProps } from "../app";

export function TrashPage(_: PageProps) {
  return <h1>TrashPage</h1>;
}
