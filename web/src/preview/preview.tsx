import type { Resource } from "../api";
export function Preview(_: { resource: Resource }) {
  return null;
}
