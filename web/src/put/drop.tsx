import type { ComponentChildren } from "preact";
import type { DataSet } from "../api";
export function DropTarget({ children }: { set: DataSet | undefined; children: ComponentChildren }) {
  return <>{children}</>;
}
export function PickFiles(_: { set: DataSet }) {
  return null;
}
