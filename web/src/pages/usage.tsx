import type { PageProps } from "../app";

export function UsagePage(_: PageProps) {
  return <h1>UsagePage</h1>;
}
