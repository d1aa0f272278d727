import type { EfficiencyResponse } from "../../api/types";
import { useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { formatCounted } from "../../format/number";
import { readableAndExact } from "../../format/time";
import { causeAbout, divided, isUntold } from "../../model/causes";

/** Why kernels of eligible ops are not on matrix units; a cause narrows the table to its ops. */
export function Causes({ causes }: Pick<EfficiencyResponse, "causes">) {
  const { matrixUnit } = useScope();
  const { keptOff, untold } = divided(causes);
  return (
    <>
      <Chips title={`Why not on ${matrixUnit}s`} causes={keptOff} />
      <Chips title={`Whether on ${matrixUnit}s is not known`} causes={untold} />
    </>
  );
}

function Chips({ title, causes }: { title: string } & Pick<EfficiencyResponse, "causes">) {
  const { matrixUnit } = useScope();
  const selected = useUrl()["eff.where.cause"] ?? "";
  if (causes.length === 0) return null;
  return (
    <ul class="causes" aria-label={title}>
      <li class="muted" aria-hidden="true">
        {title}
      </li>
      {causes.map(({ label, ops, kernel_ns: time }) => (
        <li key={label}>
          <button
            type="button"
            class="button toggle"
            aria-pressed={selected === label}
            data-tip={`${causeAbout(label, matrixUnit)}\n${readableAndExact(time)} of kernel time in these ops, not ${isUntold(label) ? "known to be " : ""}on ${matrixUnit}s. A click shows them in the table.`}
            onClick={() => navigate({ "eff.where.cause": selected === label ? null : label, "eff.page": null })}
          >
            {label} <span class="muted number">{formatCounted(ops ?? 0, "op")}</span>
          </button>
        </li>
      ))}
      {causes.some(({ label }) => label === selected) && (
        <li>
          <button
            type="button"
            class="link-button"
            onClick={() => document.querySelector(".efficiency .data-table")?.scrollIntoView({ behavior: "smooth" })}
          >
            Its ops, below
          </button>
        </li>
      )}
    </ul>
  );
}
