import type { Asked } from "../api";
import type { Kind } from "./metadata";

/** The props of the form that changes the metadata of a record. */
export interface FormProps<T> {
  kind: Kind;
  /** The record to edit. */
  was: T;
  /** Its schema. */
  asked?: Asked | undefined;
  done: (record: T) => void;
  cancel: () => void;
  /** The member that the user wants to fill in. */
  focus?: string | undefined;
  /** A second button that saves, and its action after saving. */
  next?: { action: string; done: (record: T) => void } | undefined;
}
