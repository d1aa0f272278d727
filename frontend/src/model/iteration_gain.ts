/** How what kernels could gain relates to what an iteration gains. */
import { formatShare } from "../format/share";

/** Where kernels run for more of the time, faster ones shorten iterations nearly as much. */
const MOSTLY_BUSY = 0.85;

/** Empty where kernels fill the time, or where it is not known for how much of it they run; `said` is the share and of what. */
export const iterationGain = (busy: number | null, said = `${formatShare(busy)} of the wall clock time`): string =>
  busy === null || busy <= 0 || busy >= MOSTLY_BUSY ? "" : `Kernels run for ${said}, which may gain less.`;
