/** The moments of a finding on the timeline: the longest as a strip, the others as links to where they are. */
import { formatDuration } from "../../format/time";
import { momentHead, type Moment } from "../../model/moments";
import { evidenceLink, roomAround } from "../../model/timeline_link";
import { ViewLink } from "../view_link";
import { useOneStop } from "../walking";
import { TimelineStrip } from "./strip";

export function MomentStrip({ moments }: { moments: readonly Moment[] }) {
  const longest = moments[0];
  if (longest === undefined) return null;
  const { from, to } = roomAround(longest.from, longest.to);
  return (
    <TimelineStrip
      from={from}
      to={to}
      devices={longest.device === null ? [] : [longest.device]}
      marked={[longest]}
      most={2}
      link={false}
    />
  );
}

/** The moments in words; a click leads to each, with what is there selected. */
export function MomentLinks({ moments, exposed }: { moments: readonly Moment[]; exposed: boolean }) {
  const row = useOneStop<HTMLUListElement>();
  const onSeveral = new Set(moments.map(({ device }) => device)).size > 1;
  return (
    <ul class="finding-moments" aria-label="On the timeline" {...row}>
      <li class="muted" aria-hidden="true">
        {momentHead(moments.length, exposed)}
      </li>
      {moments.map(({ from, to, device, what, name, full }) => (
        <li key={from}>
          <ViewLink
            class="link-button"
            to={evidenceLink(from, to, device)}
            label={`${formatDuration(to - from)} ${what}`}
            tip={`${full}\nOpen this moment in the Timeline`}
          >
            {formatDuration(to - from)}
            {onSeveral && device !== null && ` on GPU ${device}`}
          </ViewLink>{" "}
          {/* A stretch in one place: the gap around it may go on in others. */}
          <span class="moment-name muted">{name}</span>
        </li>
      ))}
    </ul>
  );
}
