// What a page and the frame in which it shows a PDF tell each other. The frame has no origin, so this is all that passes between them.

/** From the page to the frame. Buffers are transferred. */
export type ToFrame =
  | { kind: "open"; file: ArrayBuffer; worker: ArrayBuffer }
  /** A decoder that the frame asked for; without bytes there is none. */
  | { kind: "decoder"; name: string; bytes: ArrayBuffer | undefined }
  /** 1: a sheet is as wide as the frame. */
  | { kind: "zoom"; zoom: number };

/** From the frame to the page. */
export type FromFrame =
  /** The script of the frame runs, and waits for the file. */
  | { kind: "ready" }
  | { kind: "decoder"; name: string }
  /** The document is open, and its first sheet has been drawn. */
  | { kind: "drawn"; pages: number }
  | { kind: "failed"; why: "password" | "broken" };
