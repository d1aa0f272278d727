/**
 * Re-aggregations: the state lives in the server, so that a refresh, Back or another tab changes nothing. Which of them the user of this
 * browser started is remembered here and in the URL: other viewers of a shared server are not told of them.
 */
import { createContext } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";

import { fetchJobs } from "../api/client";
import type { Job } from "../api/types";
import { isShown } from "../host/tensorboard";
import { currentUrl, navigate, useUrl } from "./url";
import { asApiError } from "./use_query";

const POLL_MS = 700;
const STORE = "dlprof.jobs";
const MOST_REMEMBERED = 50;

export const isActive = ({ state }: Job): boolean => state === "queued" || state === "running";

function remembered(): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return Array.isArray(value) ? value.filter((id): id is string => typeof id === "string") : [];
  } catch {
    return [];
  }
}

function remember(ids: readonly string[]): void {
  try {
    localStorage.setItem(STORE, JSON.stringify(ids.slice(-MOST_REMEMBERED)));
  } catch {
    // Without storage the URL alone knows.
  }
}

export interface Jobs {
  /** The jobs of this profile that were started in this browser and not dismissed, oldest first. */
  mine: Job[];
  /** Whether anything is under way for this profile, no matter who started it. */
  busy: boolean;
  /** A job that the user just started. */
  follow: (job: Job) => void;
  dismiss: (job: Job) => void;
  reload: () => void;
}

const NONE: Jobs = {
  mine: [],
  busy: false,
  follow: () => undefined,
  dismiss: () => undefined,
  reload: () => undefined,
};

export const JobsContext = createContext<Jobs>(NONE);

export const useMyJobs = (): Jobs => useContext(JobsContext);

/** Asks the server while something is under way; `onDone` is called once for each job that ends. */
export function useJobs(profile: string | null, onDone: () => void): Jobs {
  const [jobs, setJobs] = useState<readonly Job[]>([]);
  const [own, setOwn] = useState(remembered);
  const [round, setRound] = useState(0);
  const inUrl = useUrl().job;
  const done = useRef(onDone);
  done.current = onDone;
  const active = useRef(new Set<string>());

  useEffect(() => {
    setJobs([]);
    active.current.clear();
  }, [profile]);

  useEffect(() => {
    if (profile === null) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = (): void => {
      // Another tab may have had it asked in between: one chain of questions is enough.
      clearTimeout(timer);
      timer = setTimeout(() => (isShown() ? void load() : again()), POLL_MS);
    };
    const load = async (): Promise<void> => {
      try {
        const answer = await fetchJobs(profile, abort.signal);
        if (abort.signal.aborted) return;
        setJobs(answer);
        const now = new Set(answer.filter(isActive).map(({ id }) => id));
        const ended = [...active.current].some((id) => !now.has(id));
        active.current = now;
        if (ended) done.current();
        if (now.size > 0) again();
      } catch (failure) {
        // A server that does not answer is asked again elsewhere, and this then with it.
        const gone = asApiError(failure).code === "unreachable";
        if (!abort.signal.aborted && !gone && active.current.size > 0) again();
      }
    };
    void load();
    // Another tab of this browser may have started or dismissed something.
    const onStorage = (event: StorageEvent): void => {
      if (event.key !== STORE) return;
      setOwn(remembered());
      void load();
    };
    window.addEventListener("storage", onStorage);
    return () => {
      abort.abort();
      clearTimeout(timer);
      window.removeEventListener("storage", onStorage);
    };
  }, [profile, round]);

  const reload = useCallback(() => setRound((n) => n + 1), []);
  const follow = useCallback((job: Job) => {
    const ids = [...remembered().filter((id) => id !== job.id), job.id];
    remember(ids);
    setOwn(ids);
    active.current.add(job.id);
    navigate({ job: job.id });
    setJobs((before) => [...before.filter(({ id }) => id !== job.id), job]);
    setRound((n) => n + 1);
  }, []);
  const dismiss = useCallback((job: Job) => {
    const ids = remembered().filter((id) => id !== job.id);
    remember(ids);
    setOwn(ids);
    if (currentUrl().job === job.id) navigate({ job: null });
  }, []);

  const mine = jobs.filter(({ id }) => id === inUrl || own.includes(id));
  return { mine, busy: jobs.some(isActive), follow, dismiss, reload };
}

/** Leads to an aggregation. What was chosen for a new one is the shown one's from then on. */
export const showAggregation = (id: number): void => navigate({ aggregation: String(id), job: null, ...CHOICES }, true);

const CHOICES = {
  "iterations.start": null,
  "iterations.stop": null,
  "iterations.key": null,
  "iterations.by": null,
  "iterations.from": null,
  "iterations.to": null,
};
