/** The strip of one iteration, by its number. */
import { fetchTimeline } from "../../api/client";
import { useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { TimelineStrip } from "./strip";

export function IterationStrip({ iteration }: { iteration: string }) {
  const { profile, round } = useScope();
  const { data } = useQuery(`${profile} ${round}`, (signal) => fetchTimeline(profile, signal));
  const found = data?.iterations.list.find((each) => String(each.iteration) === iteration);
  return found === undefined ? null : <TimelineStrip from={found.start} to={found.stop} />;
}
