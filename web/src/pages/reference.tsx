import type { PageProps } from "../app";

export function ReferencePage(_: PageProps) {
  return <h1>ReferencePage</h1>;
}
