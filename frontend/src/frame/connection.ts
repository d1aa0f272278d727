/** Whether the server answers. Once it does not, it is asked again, ever less often, while someone is looking. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { fetchProfiles } from "../api/client";
import { watchReach } from "../api/request";
import { isShown } from "../host/tensorboard";

const FIRST_MS = 1000;
const LONGEST_MS = 15_000;

export interface Connection {
  lost: boolean;
  /** Asks at once. */
  tryNow: () => void;
}

/** `onBack` is called when the server answers again. */
export function useConnection(onBack: () => void): Connection {
  const [lost, setLost] = useState(false);
  const [round, setRound] = useState(0);
  const back = useRef(onBack);
  back.current = onBack;

  useEffect(() => watchReach((reached) => setLost(!reached)), []);

  useEffect(() => {
    if (!lost) return undefined;
    return () => back.current();
  }, [lost]);

  useEffect(() => {
    if (!lost) return undefined;
    const abort = new AbortController();
    let delay = FIRST_MS;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      if (isShown()) {
        // Whether it answers is told to all by the request itself; what it answers is asked for once it does.
        await fetchProfiles(abort.signal).catch(() => undefined);
        delay = Math.min(delay * 2, LONGEST_MS);
      }
      if (!abort.signal.aborted) timer = setTimeout(() => void ask(), delay);
    };
    // A press of the button asks at once, and so does who comes back to this tab.
    const now = (): void => setRound((n) => n + 1);
    const seen = (): void => {
      if (isShown()) now();
    };
    if (round > 0) void ask();
    else timer = setTimeout(() => void ask(), delay);
    document.addEventListener("visibilitychange", seen);
    window.addEventListener("online", now);
    return () => {
      abort.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
      window.removeEventListener("online", now);
    };
  }, [lost, round]);

  useEffect(() => {
    if (!lost) setRound(0);
  }, [lost]);

  return { lost, tryNow: useCallback(() => setRound((n) => n + 1), []) };
}
