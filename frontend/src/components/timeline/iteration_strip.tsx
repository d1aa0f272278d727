/** The strip of one iteration, by its number, on the GPU that the Dashboard's sentence is about. */
import { fetchTimeline } from "../../api/client";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { mainDevice } from "../../model/parts";
import { StripToCome, TimelineStrip } from "./strip";

interface IterationStripProps {
  iteration: string;
  /** Whether it is as high as what is beside it. */
  fill?: boolean;
}

export function IterationStrip({ iteration, fill = false }: IterationStripProps) {
  const { profile, round } = useScope();
  const { data, error } = useQuery(`${profile} ${round}`, (signal) => fetchTimeline(profile, signal));
  const selected = data?.iterations.list.find((each) => String(each.iteration) === iteration);
  const { data: diagnosis, loading } = useDiagnosis();
  const main = diagnosis === null ? null : mainDevice(diagnosis);
  if ((data === null && error === null) || (diagnosis === null && loading)) return <StripToCome />;
  if (selected === undefined) return null;
  const { start, stop } = selected;
  return <TimelineStrip from={start} to={stop} devices={main === null ? [] : [Number(main[0])]} fill={fill} />;
}
