/** The strip of one iteration, by its number, on the GPU that the Dashboard's sentence is about. */
import { fetchTimeline } from "../../api/client";
import { formatDuration } from "../../format/time";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { mainDevice } from "../../model/parts";
import { StripToCome, TimelineStrip } from "./strip";

interface IterationStripProps {
  iteration: string;
  /** How long the iteration is elsewhere on the page: that of a recording without marks is shown from its first GPU work on. */
  duration_ns?: number | null;
  /** Whether it is as high as what is beside it. */
  fill?: boolean;
}

export function IterationStrip({ iteration, duration_ns: duration = null, fill = false }: IterationStripProps) {
  const { profile, round } = useScope();
  const { data, error } = useQuery(`${profile} ${round}`, (signal) => fetchTimeline(profile, signal));
  const selected = data?.iterations.list.find((each) => String(each.iteration) === iteration);
  const { data: diagnosis, loading } = useDiagnosis();
  const main = diagnosis === null ? null : mainDevice(diagnosis);
  if ((data === null && error === null) || (diagnosis === null && loading)) return <StripToCome />;
  if (selected === undefined) return null;
  const { start, stop } = selected;
  const shorter = duration !== null && stop - start < SAME_LENGTH * duration;
  return (
    <>
      {shorter && (
        <p class="muted">The strip shows the {formatDuration(stop - start)} from the first GPU work to the last.</p>
      )}
      <TimelineStrip from={start} to={stop} devices={main === null ? [] : [Number(main[0])]} fill={fill} />
    </>
  );
}

/** Lengths that differ by less than what is rounded away are the same. */
const SAME_LENGTH = 0.99;
