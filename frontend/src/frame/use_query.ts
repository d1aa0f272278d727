/** Loads what a component shows, drops answers that came too late, and keeps the last picture while the next one loads. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError } from "../api/client";

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

/** Runs `load` whenever `key` changes (null: nothing to load) or `reload` is called; an older request is aborted. */
export function useQuery<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Query<T> {
  const [state, setState] = useState<Omit<Query<T>, "reload">>({
    data: null,
    dataKey: null,
    error: null,
    loading: key !== null,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => {
    if (key === null) {
      setState({ data: null, dataKey: null, error: null, loading: false });
      return undefined;
    }
    const abort = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    latest.current(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ data, dataKey: key, error: null, loading: false });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setState((before) => ({ ...before, error: asApiError(error), loading: false }));
      },
    );
    return () => abort.abort();
  }, [key, round]);

  return { ...state, reload: useCallback(() => setRound((n) => n + 1), []) };
}
