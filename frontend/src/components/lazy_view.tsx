/** Views that are fetched when they are first opened: the Dashboard must not wait for them. */
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

import { fetchProfiles } from "../api/client";
import { ApiError, watchReach } from "../api/request";
import { allowReload, reloadOnce } from "../host/reload";
import { ErrorBox, Loading } from "./message";

/** A component whose module is loaded on first use; what was loaded once is there at once. */
export function lazyView<Props extends object>(
  what: string,
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let known: FunctionComponent<Props> | null = null;
  return function LazyView(props: Props) {
    const [View, setView] = useState(() => known);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (known !== null) return;
      Promise.all([load(), import("../more_styles")]).then(
        ([loaded, styles]) => {
          styles.addStyles();
          known = loaded;
          setView(() => loaded);
          allowReload();
        },
        () => setFailed(true),
      );
    }, []);
    useEffect(() => {
      if (!failed) return undefined;
      const stop = watchReach((reached) => {
        if (reached) reloadOnce();
        else allowReload();
      });
      // Whether it answers now is told by the request itself; one that does has stumbled, or was updated.
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
              "This page reloads when the server answers; if that does not help, reload it yourself.",
            )
          }
        />
      );
    return View === null ? <Loading what={what} /> : <View {...props} />;
  };
}
