import type { Row } from "../api/types";
import { formatSize } from "../format/size";
import { useScope } from "../frame/scope";
import { textOf } from "../frame/use_row";
import { causeAbout } from "../model/causes";

/** Why an op, or the longest of a group, is not on matrix units, and what helps; nothing where it could not be, or is. */
export function CauseNote({ row }: { row: Row }) {
  const { matrixUnit } = useScope();
  const cause = textOf(row, "cause");
  const dimension = textOf(row, "dimension");
  return cause === "" ? null : (
    <p>
      <strong>{cause}.</strong> {causeAbout(cause, matrixUnit)} {dimension !== "" && `Pad ${formatSize(dimension)}.`}
    </p>
  );
}
