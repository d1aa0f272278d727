/** Views that are fetched when they are first opened: the Dashboard must not wait for them. */
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { ApiError, fetchProfiles, watchReach } from "../api/client";
import { ErrorBox, Loading } from "./message";

/** A component whose module is loaded on first use; what was loaded once is there at once. */
export function lazyView<Props extends object>(
  what: string,
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let known: ComponentType<Props> | null = null;
  return function LazyView(props: Props) {
    const [View, setView] = useState(() => known);
    const [failed, setFailed] = useState(false);
    const [round, setRound] = useState(0);
    const gone = useRef(false);
    useEffect(() => {
      if (known !== null) return;
      load().then(
        (loaded) => {
          known = loaded;
          setView(() => loaded);
        },
        () => setFailed(true),
      );
    }, [round]);
    useEffect(() => {
      if (!failed) return undefined;
      const stop = watchReach((reached) => {
        if (!reached) gone.current = true;
        else if (gone.current) {
          gone.current = false;
          setFailed(false);
          setRound((n) => n + 1);
        }
      });
      // A server that is gone comes back; one that answers has been updated, and does not have this file any more.
      const abort = new AbortController();
      fetchProfiles(abort.signal).catch(() => undefined);
      return () => {
        stop();
        abort.abort();
      };
    }, [failed]);
    if (failed)
      return (
        <ErrorBox
          error={
            new ApiError(
              "unreachable",
              `The page for ${what} could not be loaded.`,
              "It comes when the server answers again. If it does, the plug-in was updated meanwhile: load this page again.",
            )
          }
        />
      );
    return View === null ? <Loading what={what} /> : <View {...props} />;
  };
}
