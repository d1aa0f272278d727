/** Which iterations numbers are of, and a click that includes what was left out, or leaves it out again. */
import type { DashboardResponse, Diagnosis } from "../api/types";
import { includedBesides, leavesOut, saidOf } from "../model/answer";
import type { Step } from "../model/step";
import { Recount } from "./recount";

interface CountedIterationsProps {
  data: DashboardResponse;
  diagnosis: Diagnosis;
  step: Step;
  /** Whether what stands beside it tells that few long ones make the mean. */
  brief?: boolean;
}

export function CountedIterations({ data, diagnosis, step, brief = false }: CountedIterationsProps) {
  const { rows, proposal } = data.iterations;
  const [first, last] = [rows[0]?.iteration, rows.at(-1)?.stop_iteration];
  const besides = includedBesides(diagnosis);
  return (
    <>
      {saidOf(diagnosis, step, brief)}{" "}
      {leavesOut(diagnosis, step) && first !== undefined && last !== undefined && (
        <Recount data={data} start={first} stop={last} label="Include what was left out" />
      )}
      {besides > 0 && proposal !== null && (
        <Recount
          data={data}
          start={proposal.iter_start}
          stop={proposal.iter_stop}
          label={`Leave ${besides === 1 ? "it" : "them"} out again`}
        />
      )}
    </>
  );
}
