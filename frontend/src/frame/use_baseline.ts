/** The comparison with the chosen baseline, for the pages that show its numbers beside their own. */
import { fetchCompare } from "../api/client";
import type { CompareResponse } from "../api/types";
import { useUnready } from "./profiles";
import { scopeKey, useScope } from "./scope";
import { useUrl } from "./url";
import { useQuery, type Query } from "./use_query";

/** Nothing is asked without a baseline, or while it has yet to be imported. */
export function useBaseline(): Query<CompareResponse> {
  const { base = "", base_aggregation: aggregation = "" } = useUrl();
  const scope = useScope();
  const unready = useUnready(base);
  return useQuery<CompareResponse>(
    base !== "" && unready === null ? scopeKey(scope, "compare", base, aggregation) : null,
    (signal) => fetchCompare(scope, { base, aggregation }, signal),
  );
}
