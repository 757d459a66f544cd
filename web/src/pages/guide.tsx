import type { PageProps } from "../app";

export function GuidePage(_: PageProps) {
  return <h1>GuidePage</h1>;
}
