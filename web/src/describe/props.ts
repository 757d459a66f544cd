import type { Asked } from "../api";
import type { Kind } from "./metadata";

/** What the form gets that changes the metadata of a record. */
export interface FormProps<T> {
  kind: Kind;
  /** The record to edit. */
  was: T;
  /** What its schema asks of it. */
  asked?: Asked | undefined;
  done: (record: T) => void;
  cancel: () => void;
  /** The member that the user wants to fill in. */
  focus?: string | undefined;
  /** What the form does after it has saved, if not `done`, which a button of its own does then. */
  next?: { action: string; done: (record: T) => void } | undefined;
}
