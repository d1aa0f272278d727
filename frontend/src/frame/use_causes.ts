/** Causes for a database that is not ours, which the server knows only after the efficiency of its ops was requested. */
import { useEffect } from "preact/hooks";

import { fetchEfficiency } from "../api/client";
import { scopeKey, useScope } from "./scope";
import { useQuery } from "./use_query";

/** Asks for them where an answer is `untold`, and for that answer again (`reload`) when they are known. */
export function useCauses(untold: boolean, reload: () => void): void {
  const scope = useScope();
  const rates = useQuery(untold ? scopeKey(scope) : null, (signal) => fetchEfficiency(scope, signal));
  const isAnswered = untold && (rates.data?.precisions.length ?? 0) > 0;
  useEffect(() => {
    if (isAnswered) reload();
  }, [isAnswered, reload]);
}
