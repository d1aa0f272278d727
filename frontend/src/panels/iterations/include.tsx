import type { DashboardResponse } from "../../api/types";
import { navigate } from "../../frame/url";

interface IncludeProps {
  data: DashboardResponse;
  /** The iterations to take in. */
  first: number;
  last: number;
  /** What they are called. */
  what: string;
}

/** Where the fields of a new aggregation are. */
export const NEW_AGGREGATION = "new-aggregation";

/** Widens the range of a new aggregation, whose fields unfold; the user then starts it. */
export function Include({ data, first, last, what }: IncludeProps) {
  const { iter_start: start, iter_stop: stop } = data.performance;
  return (
    <button
      type="button"
      class="link-button"
      onClick={() => {
        navigate({
          ...(start !== null && first < start ? { "iterations.start": String(first) } : {}),
          ...(stop !== null && last > stop ? { "iterations.stop": String(last) } : {}),
        });
        const fields = document.getElementById(NEW_AGGREGATION);
        fields?.setAttribute("open", "");
        fields?.scrollIntoView({ block: "center" });
      }}
    >
      Include {what}
    </button>
  );
}
