/**
 * The list of profiles, kept fresh while someone is looking: about once a second while something is being found or imported, and
 * every few seconds while there is none.
 */
import { useCallback, useEffect, useState } from "preact/hooks";

import { fetchProfiles } from "../api/client";
import { type ApiError } from "../api/request";
import type { ProfilesResponse } from "../api/types";
import { isShown } from "../host/tensorboard";
import { asApiError } from "./use_query";

const POLL_MS = 1000;
/** The server looks at the folder no more often than every five seconds: what changed just now is seen a little later. */
const LOOK_AGAIN_MS = 6000;
const LOOKS = 3;

export interface Profiles {
  data: ProfilesResponse | null;
  error: ApiError | null;
  loading: boolean;
  reload: () => void;
}

const inMotion = ({ scan, profiles }: ProfilesResponse): boolean =>
  scan.state === "scanning" || profiles.some(({ state }) => state === "importing" || state === "queued");

export function useProfiles(): Profiles {
  const [data, setData] = useState<ProfilesResponse | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [loading, setLoading] = useState(true);
  const [round, setRound] = useState(0);

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let looks = round > 0 ? LOOKS : 0;
    let moving = false;
    const again = (delay: number): void => {
      timer = setTimeout(() => (isShown() ? void load() : again(POLL_MS)), delay);
    };
    const load = async (): Promise<void> => {
      try {
        const answer = await fetchProfiles(abort.signal);
        if (abort.signal.aborted) return;
        setData(answer);
        setError(null);
        moving = inMotion(answer);
        if (moving) again(POLL_MS);
        // Who looks at an empty list waits for the first profile.
        else if (answer.profiles.length === 0) again(LOOK_AGAIN_MS);
        else if (looks > 0) {
          looks -= 1;
          again(LOOK_AGAIN_MS);
        }
      } catch (failure) {
        if (abort.signal.aborted) return;
        const reason = asApiError(failure);
        setError(reason);
        // A server that does not answer is asked again elsewhere, and this then with it.
        if (moving && reason.code !== "unreachable") again(POLL_MS);
      }
      setLoading(false);
    };
    setLoading(true);
    void load();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [round]);

  return { data, error, loading, reload: useCallback(() => setRound((n) => n + 1), []) };
}
