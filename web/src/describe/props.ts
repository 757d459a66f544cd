import type { Kind } from "./metadata";

/** What the form gets that changes the metadata of a record. */
export interface FormProps<T> {
  kind: Kind;
  /** The record to edit. */
  was: T;
  done: (record: T) => void;
  cancel: () => void;
}
