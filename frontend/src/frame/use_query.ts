/** Loads what a component shows, drops answers that came too late, and keeps the last picture while the next one loads. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError } from "../api/request";

export interface Query<T> {
  /** The last good answer; it may belong to an earlier key while `loading`. */
  data: T | null;
  /** The key that `data` belongs to. */
  dataKey: string | null;
  error: ApiError | null;
  loading: boolean;
  reload: () => void;
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError("unexpected", error instanceof Error ? error.message : String(error), "");
}

interface Answer<T> {
  data: T | null;
  dataKey: string | null;
  error: ApiError | null;
  /** The question that was answered last, well or not. */
  settled: string | null;
}

const NOTHING = { data: null, dataKey: null, error: null, settled: null };

/** Runs `load` whenever `key` changes (null: nothing to load) or `reload` is called; an older request is aborted. */
export function useQuery<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Query<T> {
  const [answer, setAnswer] = useState<Answer<T>>(NOTHING);
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const question = key === null ? null : `${round} ${key}`;

  useEffect(() => {
    if (key === null) {
      setAnswer(NOTHING);
      return undefined;
    }
    const abort = new AbortController();
    latest.current(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setAnswer({ data, dataKey: key, error: null, settled: question });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setAnswer((before) => ({ ...before, error: asApiError(error), settled: question }));
      },
    );
    return () => abort.abort();
  }, [key, question]);

  const { data, dataKey, error, settled } = answer;
  // Told from the question itself, so that not even one picture shows an old answer as the new one.
  const loading = question !== null && settled !== question;
  return { data, dataKey, error, loading, reload: useCallback(() => setRound((n) => n + 1), []) };
}
