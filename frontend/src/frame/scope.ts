/** What everything on the page is asked of: a profile, an aggregation, a domain. Views and tables read it with `useScope`. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { ProfileScope } from "../api/client";

export interface Scope extends ProfileScope {
  /** Counted up to ask again for what is on screen. */
  round: number;
  /** `Tensor Core`, or `Matrix Core` on AMD GPUs. */
  matrixUnit: string;
  /** Of the program: `PyTorch`, `TensorFlow`, `TensorRT`; null where it is not known. */
  framework: string | null;
  /** Whether the recording contains GPU work; without it, the use of matrix units is unknown. */
  onGpu: boolean;
  /** How many iterations are aggregated; 1 where that is not known. */
  iterations: number;
  /** How many of them the times of tables and of the tree are sums of: all, or 1 where they are means of one. */
  summed: number;
  /** The share of the time in which kernels ran, mean of the GPUs in use; null where that is not known. */
  busy: number | null;
  /** Where windows of the timeline can be handed over to; null offers nothing. */
  perfetto: string | null;
  /** Run and file, the heading of what is copied and printed. */
  title: string;
}

export const ScopeContext = createContext<Scope | null>(null);

export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (scope === null) throw new Error("There is no profile around this component.");
  return scope;
}

/** A key for `useQuery`: changes when something else has to be asked. */
export function scopeKey(
  { profile, aggregation, domain, per = null, round }: Scope,
  ...rest: readonly unknown[]
): string {
  return JSON.stringify([profile, aggregation, domain, per, round, ...rest]);
}
