/** The only file that talks to the server. Addresses are relative to TensorBoard's `<base href="plugin/dlprof/">`. */
import type {
  DashboardResponse,
  ErrorBody,
  ProfileEntry,
  ProfilesResponse,
  TableRequest,
  TableResponse,
} from "./types";

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

async function request(path: string, init: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, credentials: "same-origin" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(
      "unreachable",
      "TensorBoard does not answer.",
      "Check that it is still running, then try again.",
    );
  }
  let body: unknown;
  try {
    body = await response.json();
  } catch (error) {
    if (init.signal?.aborted) throw error;
    body = null;
  }
  if (response.ok && body !== null) return body;
  if (isErrorBody(body)) throw new ApiError(body.error.code, body.error.message, body.error.hint);
  throw new ApiError(
    "unexpected",
    `The server answered with status ${response.status} and no explanation.`,
    "TensorBoard's own output may say more.",
  );
}

const get = (path: string, signal: AbortSignal): Promise<unknown> => request(path, { signal });

const post = (path: string, body: object): Promise<unknown> =>
  request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-DLProf": "1" },
    body: JSON.stringify(body),
  });

/** The query string of a page of a table; what is empty is left out. */
export function tableQuery(asked: TableRequest): string {
  const query = new URLSearchParams({ profile: asked.profile, table: asked.table });
  if (asked.aggregation !== null) query.set("aggregation", String(asked.aggregation));
  query.set("offset", String(asked.offset));
  query.set("limit", String(asked.limit));
  if (asked.sort !== "") query.set("sort", asked.sort);
  if (asked.search !== "") query.set("search", asked.search);
  for (const [column, filter] of Object.entries(asked.where)) if (filter !== "") query.set(`where.${column}`, filter);
  for (const [name, value] of Object.entries(asked.links)) query.set(name, value);
  return query.toString();
}

export async function fetchProfiles(signal: AbortSignal): Promise<ProfilesResponse> {
  return (await get("./profiles", signal)) as ProfilesResponse;
}

export async function fetchDashboard(
  profile: string,
  aggregation: number | null,
  signal: AbortSignal,
): Promise<DashboardResponse> {
  const query = new URLSearchParams({ profile });
  if (aggregation !== null) query.set("aggregation", String(aggregation));
  return (await get(`./dashboard?${query.toString()}`, signal)) as DashboardResponse;
}

export async function fetchTable(asked: TableRequest, signal: AbortSignal): Promise<TableResponse> {
  return (await get(`./table?${tableQuery(asked)}`, signal)) as TableResponse;
}

export async function startImport(profile: string): Promise<ProfileEntry> {
  return (await post("./import", { profile })) as ProfileEntry;
}

export async function cancelImport(profile: string): Promise<ProfileEntry> {
  return (await post("./cancel", { profile })) as ProfileEntry;
}
