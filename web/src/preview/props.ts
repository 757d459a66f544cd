import type { StoredFile } from "../api";

/** What every viewer gets. */
export type ViewerProps = { file: StoredFile };
