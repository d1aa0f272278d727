/** What one of the findings would change of what a headline names, in short. */
import { gainTime, wholeOf } from "../model/findings";
import type { OpsFinding } from "../model/waste";
import { ViewLink } from "./view_link";

export function FindingClause({ finding, marked }: { finding: OpsFinding; marked: boolean }) {
  return (
    <>
      <ViewLink to={{ view: "recommendations", "findings.open": finding.rule }}>{finding.heading}</ViewLink>
      {finding.isWider && " in all ops"}: {wholeOf(marked)} could be{" "}
      <strong class="nowrap">{gainTime(finding.gain)}</strong> shorter.
    </>
  );
}
