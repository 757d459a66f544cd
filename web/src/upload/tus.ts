// Sends a file in chunks by the tus protocol. It resumes after a broken connection, or where an
// earlier page stopped.
import type { DetailedError, HttpResponse, UploadOptions as TusOptions } from "tus-js-client";

/** The options of an upload. */
export interface Sending {
  endpoint: string;
  /** The metadata of the upload. */
  metadata: Record<string, string>;
  /** Identifies the file and its destination; the browser stores the address of the unfinished
      upload under it. */
  fingerprint: string;
  /** Headers of the request that begins the upload. */
  headers?: Record<string, string>;
  /** The address of the upload if it has begun on this page. */
  address?: string | undefined;
  /** The pauses between tries without progress, in ms; after the last one it fails. */
  backoff: number[];
  /** Whether a response is final although its status normally allows a retry. */
  isFinal: (status: number, body: string) => boolean;
  signal?: AbortSignal;
  onProgress: (sent: number) => void;
  /** Called, instead of onProgress, with the offset from which it starts. */
  onResume?: ((sent: number) => void) | undefined;
  onUnanswered?: (() => void) | undefined;
  onAddress?: (address: string) => void;
}

/** A response that ends an upload; status 0: no response. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly body: string,
  ) {
    super(`the upload ended with ${status}`);
  }
}

/** Sends a file. Returns the last response, and whether the upload had begun before. Throws
    Refused, the reason of the signal, or the read error of the file. */
export async function sendInChunks(file: File, t: Sending): Promise<{ last: HttpResponse; resumed: boolean }> {
  const { Upload } = await import("tus-js-client");
  /** A response to HEAD without an offset. tus-js-client would start a new upload after it; here it
      retries. */
  let withoutOffset: HttpResponse | undefined;
  let resumed = false;
  /** False until the first progress event, whose value is the offset from which the upload starts. */
  let started = false;
  const last = await new Promise<HttpResponse>((resolve, reject) => {
    const options: TusOptions = {
      endpoint: t.endpoint,
      ...(t.address && { uploadUrl: t.address }),
      metadata: t.metadata,
      onBeforeRequest: (request) => {
        if (request.getMethod() === "POST") for (const [name, value] of Object.entries(t.headers ?? {})) request.setHeader(name, value);
      },
      retryDelays: t.backoff,
      removeFingerprintOnSuccess: true,
      fingerprint: async () => t.fingerprint,
      onProgress: (sent) => {
        (started || !t.onResume ? t.onProgress : t.onResume)(Math.min(sent, file.size));
        started = true;
      },
      onUploadUrlAvailable: () => upload.url && t.onAddress?.(upload.url),
      onSuccess: ({ lastResponse }) => resolve(lastResponse),
      onAfterResponse: (request, response) => {
        withoutOffset = request.getMethod() === "HEAD" && isTemporary(response.getStatus()) ? response : undefined;
        if (withoutOffset) throw new Error("no offset");
      },
      onShouldRetry: (error) => {
        const answer = withoutOffset ?? error.originalResponse;
        const status = answer?.getStatus() ?? 0;
        if (answer && t.isFinal(status, answer.getBody())) return false;
        const retry = (status < 400 || status >= 500 || status === 409 || status === 423 || status === 429) && navigator.onLine;
        started = false;
        if (retry && (status === 0 || status >= 500)) t.onUnanswered?.();
        return retry;
      },
      onError: (error) => reject(refusalOf(error, withoutOffset)),
    };
    const upload = new Upload(file, options);
    t.signal?.addEventListener("abort", () => void upload.abort().finally(() => reject(t.signal!.reason)));
    void upload.findPreviousUploads().then(([before]) => {
      if (before) upload.resumeFromPreviousUpload(before);
      resumed = !!before;
      if (t.signal?.aborted) reject(t.signal.reason);
      else upload.start();
    }, reject);
  });
  return { last, resumed };
}

/** Whether a status comes from a proxy or from a service that is not ready, or requires a new
    sign-in. */
const isTemporary = (status: number) => status === 401 || status === 408 || status === 429 || status >= 500;

function refusalOf(error: Error | DetailedError, withoutOffset: HttpResponse | undefined) {
  const answer = withoutOffset ?? ("originalResponse" in error ? error.originalResponse : null);
  if (answer?.getStatus()) return new Refused(answer.getStatus(), answer.getBody());
  return "originalRequest" in error ? new Refused(0, "") : error;
}
