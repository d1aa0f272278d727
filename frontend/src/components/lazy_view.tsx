/** Views that are fetched when they are first opened: the Dashboard must not wait for them. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { ApiError } from "../api/client";
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
    useEffect(() => {
      if (known !== null) return;
      load().then(
        (loaded) => {
          known = loaded;
          setView(() => loaded);
        },
        () => setFailed(true),
      );
    }, []);
    if (failed)
      return (
        <ErrorBox
          error={
            new ApiError(
              "unreachable",
              `The page for ${what} could not be loaded.`,
              "Check that the server is still running, then load this page again: the plugin may have been updated meanwhile.",
            )
          }
        />
      );
    return View === null ? <Loading what={what} /> : <View {...props} />;
  };
}
