import { useEffect, useState } from "preact/hooks";

/** Whether something has been true for longer than `ms`; false at once when it no longer is. */
export function useLasting(now: boolean, ms: number): boolean {
  const [long, setLong] = useState(false);
  useEffect(() => {
    if (!now) return undefined;
    const timer = setTimeout(() => setLong(true), ms);
    return () => {
      clearTimeout(timer);
      setLong(false);
    };
  }, [now, ms]);
  return now && long;
}
