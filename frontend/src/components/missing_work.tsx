/** Below a headline: that shares are of what was recorded, where one of the findings says that GPU work is missing. */
import type { Diagnosis } from "../api/types";
import { missingWork } from "../model/findings";
import { ViewLink } from "./view_link";

/** `told`: whether the headline of the diagnosis stands above. */
export function MissingWork({ diagnosis, told = false }: { diagnosis: Diagnosis | null; told?: boolean }) {
  const missing = diagnosis === null ? null : missingWork(diagnosis);
  if (missing === null) return null;
  const to = { view: "recommendations", "findings.open": missing.rule };
  return told ? (
    <span>
      Shares of GPU time are of <ViewLink to={to}>what was recorded</ViewLink>.
    </span>
  ) : (
    <span>
      <ViewLink to={to}>GPU work is missing from this recording</ViewLink> ({missing.when}): shares of GPU time are of
      what was recorded.
    </span>
  );
}
