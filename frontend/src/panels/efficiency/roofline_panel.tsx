import type { EfficiencyResponse } from "../../api/types";
import { ExternalLink } from "../../components/external_link";
import { Panel } from "../../components/panel";
import { Roofline } from "../../components/roofline";
import { useScope } from "../../frame/scope";
import { navigate, useUrl, useUrlSet } from "../../frame/url";
import type { SelectedGroup } from "../../frame/use_op_rates";
import { formatCount, formatCounted } from "../../format/number";
import { precisionColour, precisionLabel } from "../../model/precisions";
import { products, roofsOf, undrawnSentence } from "../../model/roofline";
import { useOneStop } from "../../components/walking";

/** In the URL a precision without a name needs one. */
const word = (precision: string): string => (precision === "" ? "none" : precision);

interface RooflinePanelProps {
  rates: EfficiencyResponse;
  /** All kernel time, of as many iterations as the times of `rates`. */
  whole: number;
  group: SelectedGroup | null;
}

export function RooflinePanel({ rates, whole, group }: RooflinePanelProps) {
  const { matrixUnit } = useScope();
  const row = useOneStop<HTMLUListElement>();
  const [words, toggle] = useUrlSet("roofline.hidden");
  const url = useUrl();
  const selected = url["eff.row"] ?? group?.longest ?? "";
  // Dots come the longest first; what is unknown stands at the end.
  const precisions = [...new Set(rates.dots.map(({ precision }) => precision))].sort(
    (one, other) => Number(one === "") - Number(other === ""),
  );
  const hidden = new Set(precisions.filter((precision) => words.has(word(precision))));
  const roofs = roofsOf(rates.peaks, new Set(precisions), matrixUnit);
  const others = products(rates.peaks).slice(1);
  return (
    <Panel
      title="Roofline"
      summed
      walked
      about="Each dot is a group of ops that are alike: what it computes per byte that it must move, and per second of kernel time. The dotted line is what it could gain, up to the roof that it could reach: for matrix multiplications and convolutions in FP32 or TF32 that of 16 bits. The roofs are the GPU's published rates: below the slanted one the memory is the limit, below a level one the arithmetic. The area of a dot is its kernel time. Work is counted from the shapes of the tensors; an op above a roof did less work than counted, by a fast convolution algorithm, or found its tensors in the cache."
      tools={
        <ul class="dot-legend" aria-label="Precisions" {...row}>
          {precisions.map((precision) => (
            <li key={precision}>
              <button
                type="button"
                class="legend-entry"
                aria-pressed={!hidden.has(precision)}
                onClick={() => toggle(word(precision))}
              >
                <span class="swatch" style={{ background: precisionColour(precision) }} />
                <span class="legend-label">{precisionLabel(precision)}</span>
                <span class="legend-value">
                  {formatCounted(rates.dots.filter((dot) => dot.precision === precision).length, "op")}
                </span>
              </button>
            </li>
          ))}
        </ul>
      }
    >
      <Roofline
        dots={rates.dots}
        peaks={rates.peaks}
        matrixUnit={matrixUnit}
        hidden={hidden}
        selected={selected}
        cause={url["eff.where.cause"] ?? ""}
        onSelect={(dot) => {
          navigate({ "eff.dot": dot?.op_id ?? null, "eff.row": null, "gains.row": null });
        }}
      >
        {undrawnSentence(rates, whole) !== "" && <span>{undrawnSentence(rates, whole)}</span>}
        {roofs === null ? (
          <span>No roofs: the published rates of this GPU are not known here.</span>
        ) : (
          <span>
            Roofs of {roofs.product}, dense.{" "}
            {roofs.source.startsWith("https://") && <ExternalLink href={roofs.source}>Source</ExternalLink>}
          </span>
        )}
        {others.length > 0 && <span>Other GPUs in this profile: {others.join(", ")}.</span>}
        {rates.left_out_dots > 0 && <span>{formatCount(rates.left_out_dots)} ops with little time are left out.</span>}
      </Roofline>
    </Panel>
  );
}
