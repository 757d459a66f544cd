import type { Resource } from "../api";

/** What every viewer gets. */
export type ViewerProps = { resource: Resource };
