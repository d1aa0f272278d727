import type { EfficiencyResponse } from "../../api/types";
import { PlainHead, atRight } from "../../components/plain_head";
import { Panel } from "../../components/panel";
import { TimeIn } from "../../components/value";
import { useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { formatCount } from "../../format/number";
import { unitOf } from "../../format/time";
import { causeAbout } from "../../model/causes";

/** Why eligible ops do not use matrix units well; a row narrows the table to these ops. */
export function Causes({ rates }: { rates: EfficiencyResponse }) {
  const { matrixUnit } = useScope();
  const selected = useUrl()["eff.where.cause"] ?? "";
  if (rates.causes.length === 0) return null;
  const unit = unitOf(rates.causes.map(({ kernel_ns: ns }) => ns));
  return (
    <Panel
      title={`What Limits ${matrixUnit} Use`}
      summed
      about={`Eligible ops that do not use ${matrixUnit}s, or not well, by the cause that the recording shows, with all of their kernel time, also that of kernels on ${matrixUnit}s. A click shows these ops in the table.`}
    >
      <table class="plain-table causes">
        <PlainHead titles={["Cause", ...atRight("Ops", `Their kernel time (${unit.name})`)]} />
        <tbody>
          {rates.causes.map(({ label, ops, kernel_ns: time }) => (
            <tr key={label}>
              <th scope="row">
                <button
                  type="button"
                  class="link-button"
                  aria-pressed={selected === label}
                  data-tip={causeAbout(label, matrixUnit)}
                  onClick={() => navigate({ "eff.where.cause": selected === label ? null : label, "eff.page": null })}
                >
                  {label}
                </button>
              </th>
              <td class="right number">{formatCount(ops)}</td>
              <td class="right">
                <TimeIn ns={time} unit={unit} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
