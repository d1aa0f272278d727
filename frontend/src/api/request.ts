/** Asks the server. Addresses are relative to TensorBoard's `<base href="plugin/dlprof/">`. */
import type { ErrorBody } from "./types";

/** Why the server did not answer as hoped: its own words, or that it could not be reached (`code` is `unreachable`). */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== "object" || body === null || !("error" in body)) return false;
  const error = body.error;
  return typeof error === "object" && error !== null && "message" in error;
}

type ReachListener = (reached: boolean) => void;
const listeners = new Set<ReachListener>();

/** Calls `listener` after each request: whether the server answered, be it with an error. Returns how to stop. */
export function watchReach(listener: ReachListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const tellReach = (reached: boolean): void => {
  for (const listener of listeners) listener(reached);
};

function unreachable(): ApiError {
  tellReach(false);
  return new ApiError(
    "unreachable",
    "The server does not answer.",
    "Check that it is still running; this page tries again by itself.",
  );
}

/** With these a proxy in front of the server says that it is not there. */
const FROM_A_PROXY = [502, 503, 504];

export async function request(path: string, init: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, credentials: "same-origin" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw unreachable();
  }
  let body: unknown;
  try {
    body = await response.json();
  } catch (error) {
    if (init.signal?.aborted) throw error;
    body = null;
  }
  const explained = isErrorBody(body) ? body.error : null;
  if (explained === null && FROM_A_PROXY.includes(response.status)) throw unreachable();
  tellReach(true);
  if (response.ok && body !== null) return body;
  if (explained !== null) throw new ApiError(explained.code, explained.message, explained.hint);
  throw new ApiError(
    "unexpected",
    `The server answered with status ${response.status} and no explanation.`,
    "TensorBoard's own output may say more.",
  );
}

/** How long to wait before each further attempt, while a profile is being read, or others are answered. */
const AGAIN_AFTER_MS = [1_000, 1_000, 2_000, 2_000, 4_000, 4_000, 8_000, 8_000, 15_000, 15_000, 15_000, 15_000];

export async function get(path: string, signal: AbortSignal): Promise<unknown> {
  for (const pause of AGAIN_AFTER_MS) {
    try {
      return await request(path, { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "busy" || signal.aborted) throw error;
    }
    await new Promise((done) => setTimeout(done, pause));
    signal.throwIfAborted();
  }
  return request(path, { signal });
}

export const post = (path: string, body: object): Promise<unknown> =>
  request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-DLProf": "1" },
    body: JSON.stringify(body),
  });

/** A file of the server, whole. */
export async function getBytes(path: string): Promise<ArrayBuffer> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin" });
  } catch {
    throw unreachable();
  }
  if (response.ok) return response.arrayBuffer();
  const body: unknown = await response.json().catch(() => null);
  if (isErrorBody(body)) throw new ApiError(body.error.code, body.error.message, body.error.hint);
  throw new ApiError("unexpected", `The server answered with status ${response.status}.`, "");
}
