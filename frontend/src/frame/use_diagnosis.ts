/** Where the time of a step goes, as `dlprof diagnose` tells it. */
import { useMemo } from "preact/hooks";

import { fetchDiagnosis } from "../api/client";
import type { Diagnosis } from "../api/types";
import { mainDevice } from "../model/parts";
import { missingOfQueued } from "../model/step";
import { scopeKey, useScope } from "./scope";
import { useQuery, type Query } from "./use_query";

export function useDiagnosis(): Query<Diagnosis> {
  const scope = useScope();
  return useQuery<Diagnosis>(scopeKey(scope, "diagnosis"), (signal) => fetchDiagnosis(scope, signal));
}

/** GPUs whose queued time is mostly work that is missing from the recording: it is hatched. */
export function useLacking(): ReadonlySet<number> {
  const diagnosis = useDiagnosis().data;
  return useMemo(
    () =>
      new Set(
        Object.entries(diagnosis?.mean.devices ?? {}).flatMap(([id, device]) =>
          diagnosis !== null && missingOfQueued(diagnosis, device) > 0 ? [Number(id)] : [],
        ),
      ),
    [diagnosis],
  );
}

/** The GPU that the Dashboard speaks of; null until it is known. */
export function useMainDevice(): number | null {
  const diagnosis = useDiagnosis().data;
  const [id] = (diagnosis === null ? null : mainDevice(diagnosis)) ?? [];
  return id === undefined ? null : Number(id);
}
