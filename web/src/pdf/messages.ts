// The messages between a page and its PDF frame, which has no origin and no other connection to the page.

/** From the page to the frame. Buffers are transferred. */
export type ToFrame =
  | { kind: "open"; file: ArrayBuffer; worker: ArrayBuffer }
  /** A decoder that the frame has requested; without bytes it does not exist. */
  | { kind: "decoder"; name: string; bytes: ArrayBuffer | undefined }
  /** At 1 a sheet is as wide as the frame. */
  | { kind: "zoom"; zoom: number };

/** From the frame to the page. */
export type FromFrame =
  /** The script of the frame runs and waits for the file. */
  | { kind: "ready" }
  | { kind: "decoder"; name: string }
  /** The document is open, and its first sheet has been drawn. */
  | { kind: "drawn"; pages: number }
  | { kind: "failed"; why: "password" | "broken" };
