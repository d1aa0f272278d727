/** What a dragged stretch of time holds: what took the GPU the most time in it. Its parts stand in the legend of the tracks. */
import { useEffect, useState } from "preact/hooks";

import { fetchTimelineWork } from "../../api/client";
import type { LargestWork } from "../../api/types";
import { ErrorBox, Loading } from "../../components/message";
import { PlainHead, atRight } from "../../components/plain_head";
import { TimeIn } from "../../components/value";
import { useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { formatCount } from "../../format/number";
import { exactDuration, formatDuration, unitOf } from "../../format/time";
import { shortKernelName, wordsApart } from "../../model/kernel_name";
import type { View } from "../../model/timeline_link";
import { OpLink } from "./op_link";

interface SelectionProps {
  device: number | null;
  range: View;
  onShow: () => void;
}

/** A drag passes through many stretches on its way. */
const REST_MS = 200;

export function Selection({ device, range, onShow }: SelectionProps) {
  const { profile, round } = useScope();
  const [rest, setRest] = useState<View | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setRest(range), REST_MS);
    return () => clearTimeout(timer);
  }, [range]);
  const query = useQuery<LargestWork>(
    device === null || rest === null ? null : `${profile} ${round} work ${device} ${rest.from} ${rest.to}`,
    (signal) => fetchTimelineWork(profile, device ?? 0, rest ?? range, signal),
  );
  const wall = range.to - range.from;
  return (
    <div class="timeline-details">
      <div class="timeline-bar">
        <p>
          <strong data-tip={exactDuration(wall)}>{formatDuration(wall)}</strong>{" "}
          <span class="muted">selected; the tables below show its gaps. Esc clears it.</span>
        </p>
        <span class="timeline-space" />
        <button type="button" class="button" onClick={onShow}>
          Zoom in
        </button>
      </div>
      {query.error !== null ? (
        <ErrorBox error={query.error} />
      ) : query.data === null ? (
        device !== null && <Loading what="what it holds" height={140} />
      ) : (
        <Largest work={query.data} />
      )}
    </div>
  );
}

function Largest({ work: { works, ops } }: { work: LargestWork }) {
  if (works.length === 0) return <p class="muted">The GPU does nothing in it.</p>;
  const apart = wordsApart(works.map(({ name }) => name));
  const unit = unitOf([works[0]?.ns ?? 0, ops[0]?.ns ?? 0]);
  return (
    <div class="timeline-largest">
      <table class="plain-table">
        <PlainHead titles={["Ops with the most GPU time", ...atRight(`Time (${unit.name})`)]} />
        <tbody>
          {ops.map(({ op, op_id: id, ns }) => (
            <tr key={op}>
              <td>
                <OpLink path={op} id={id} />
              </td>
              <td class="right">
                <TimeIn ns={ns} unit={unit} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <table class="plain-table">
        <PlainHead titles={["Kernels and copies", ...atRight("Count", `Time (${unit.name})`)]} />
        <tbody>
          {works.map(({ name, class: kind, count, ns }) => (
            <tr key={`${kind} ${name}`}>
              <td data-tip={name}>
                <div class="clip">
                  {shortKernelName(name)}
                  {apart.has(name) && <span class="muted"> {apart.get(name)}</span>}
                </div>
              </td>
              <td class="right number">{formatCount(count)}</td>
              <td class="right">
                <TimeIn ns={ns} unit={unit} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
