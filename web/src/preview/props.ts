import type { ComponentType } from "preact";
import type { StoredFile } from "../api";

/** What every viewer gets. */
export interface ViewerProps {
  file: StoredFile;
  /** Shows a file within this one. */
  Preview?: ComponentType<ViewerProps> | undefined;
}
