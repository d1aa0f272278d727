/** Where the time of a step goes, as `dlprof diagnose` tells it. */
import { fetchDiagnosis } from "../api/client";
import type { Diagnosis } from "../api/types";
import { mainDevice } from "../model/parts";
import { scopeKey, useScope } from "./scope";
import { useQuery, type Query } from "./use_query";

export function useDiagnosis(): Query<Diagnosis> {
  const scope = useScope();
  return useQuery<Diagnosis>(scopeKey(scope, "diagnosis"), (signal) => fetchDiagnosis(scope, signal));
}

/** The GPU that the Dashboard speaks of; null until it is known. */
export function useMainDevice(): number | null {
  const diagnosis = useDiagnosis().data;
  const [id] = (diagnosis === null ? null : mainDevice(diagnosis)) ?? [];
  return id === undefined ? null : Number(id);
}
