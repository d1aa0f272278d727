/** The moments of a finding on the timeline: the longest as a strip, the others as links to where they are. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { formatCount } from "../../format/number";
import { formatDuration } from "../../format/time";
import { momentHead, type Moment } from "../../model/moments";
import { evidenceLink, roomAround } from "../../model/timeline_link";
import { ViewLink } from "../view_link";
import { useOneStop } from "../walking";
import { TimelineStrip } from "./strip";

/** How far below the window a strip is asked for. */
const AHEAD = "300px";

/** The longest moment, once it is in sight or nearly so: a page has many. */
export function MomentStrip({ moments }: { moments: readonly Moment[] }) {
  const place = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(false);
  useLayoutEffect(() => {
    if (place.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: AHEAD },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  const longest = moments[0];
  if (longest === undefined) return null;
  return (
    <div class="moment-strip" ref={place}>
      {near ? (
        <TimelineStrip
          {...roomAround(longest.from, longest.to)}
          devices={longest.device === null ? [] : [longest.device]}
          marked={[longest]}
          most={2}
          link={false}
        />
      ) : (
        <div class="timeline-strip strip-to-come" />
      )}
    </div>
  );
}

interface MomentLinksProps {
  moments: readonly Moment[];
  exposed: boolean;
  /** Whether counts are of an iteration. */
  each: boolean;
}

/** The moments in words; a click leads to each, with what is there selected. */
export function MomentLinks({ moments, exposed, each }: MomentLinksProps) {
  const row = useOneStop<HTMLUListElement>();
  const onSeveral = new Set(moments.map(({ device }) => device)).size > 1;
  return (
    <ul class="finding-moments" aria-label="On the timeline" {...row}>
      <li class="muted" aria-hidden="true">
        {momentHead(moments.length, exposed)}
      </li>
      {moments.map(({ from, to, device, what, name, full, count }) => {
        const many = (count ?? 1) > 1 ? `the longest of ${formatCount(count)}${each ? " in each iteration" : ""}` : "";
        return (
          <li key={`${device} ${full}`}>
            <ViewLink
              class="link-button"
              to={evidenceLink(from, to, device)}
              label={`${formatDuration(to - from)} ${what}${many && `, ${many}`}`}
              tip={`${full}${many && `, ${many}`}\nOpen this moment in the Timeline`}
            >
              {formatDuration(to - from)}
              {onSeveral && device !== null && ` on GPU ${device}`}
            </ViewLink>{" "}
            {/* A stretch in one place: the gap around it may go on in others. */}
            <span class="moment-name muted">{name}</span>
            {many !== "" && <span class="muted"> (1 of {formatCount(count)})</span>}
          </li>
        );
      })}
    </ul>
  );
}
