import type { ComponentType } from "preact";
import type { StoredFile } from "../api";

/** The props of every viewer. */
export interface ViewerProps {
  file: StoredFile;
  /** Shows a file within this file. */
  Preview?: ComponentType<ViewerProps> | undefined;
}
