/**
 * What the server sends (`responses.ts`, made of its declarations), short names for parts of it, and what only this side knows. `*_ns` are whole
 * nanoseconds, `*_bytes` bytes, `*_fraction` shares from 0 to 1; `null` is "unknown", never 0.
 */
import type { AggregationWish, Column, DiagnosedParts, ResourceShare, TableResponse, TrackInfo } from "./responses";

export type * from "./responses";

/** Kinds of tracks on the timeline. */
export type TrackKind = TrackInfo["kind"];

/**
 * The exclusive parts of the wall time, in order of precedence. `unknown_kernel`: kernels whose Tensor Core use is unknown,
 * and CUDA graphs recorded as a whole; where it is not 0, `tensor_core` is a lower bound, and `null` instead of 0.
 */
export type Resource = ResourceShare["resource"];

export type ColumnType = Column["type"];
export type Row = TableResponse["rows"][number];
export type Cell = Row[string];

/** What is asked of `./table`. `links` are the parameters of the table itself, such as `op`. */
export interface TableRequest {
  profile: string;
  table: string;
  aggregation: number | null;
  domain: string | null;
  per?: "iteration" | null;
  offset: number;
  limit: number;
  sort: string;
  search: string;
  where: Record<string, string>;
  links: Record<string, string>;
}

export type AggregateRequest = Omit<AggregationWish, "aggregation">;

/** Kinds of evidence that a page opens. */
export type EvidenceKind = "op" | "kernel" | "line" | "function" | "call" | "iteration" | "device";

/** The exclusive parts of a step on one GPU, as `dlprof diagnose` tells them. */
export type DiagnosedPart = keyof DiagnosedParts;

export interface ErrorBody {
  error: { code: string; message: string; hint: string };
}
