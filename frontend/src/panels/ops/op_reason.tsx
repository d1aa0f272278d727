import { Icon } from "../../components/icon";
import { ViewLink } from "../../components/view_link";
import { useScope } from "../../frame/scope";
import { numberOf, textOf, useOpRates } from "../../frame/use_op_rates";
import { formatSize } from "../../format/size";
import { formatDuration } from "../../format/time";
import { causeAbout, eligibilitySentence } from "../../model/causes";
import { showingOp } from "../../model/url_state";

/** Whether the selected op could use matrix units and does, why not, and what it could gain; nothing where it is not rated. */
export function OpReason({ op }: { op: string }) {
  const { matrixUnit } = useScope();
  const { row } = useOpRates(op);
  if (row === undefined) return null;
  const cause = textOf(row, "cause");
  const size = textOf(row, "size");
  const dimension = textOf(row, "dimension");
  const gain = numberOf(row, "gain_ns");
  return (
    <p class="op-reason">
      <strong>{op}</strong>
      {size !== "" && <span class="muted">{formatSize(size)}</span>}
      <span>{eligibilitySentence(textOf(row, "eligibility"), row.matrix_unit ?? null, matrixUnit)}</span>
      {cause !== "" && (
        <span>
          <strong>{cause}.</strong> {causeAbout(cause)} {dimension !== "" && `Pad ${formatSize(dimension)}.`}
        </span>
      )}
      {gain !== null && gain > 0 && (
        <span>
          Could gain {formatDuration(gain)} of {formatDuration(numberOf(row, "kernel_ns"))} kernel time.
        </span>
      )}
      <ViewLink class="more-button" to={showingOp("efficiency", op)}>
        Efficiency <Icon name="right" />
      </ViewLink>
    </p>
  );
}
