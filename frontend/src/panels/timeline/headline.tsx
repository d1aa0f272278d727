/** What the window says in one sentence, and its parts as a list and a legend. */
import { fetchTable } from "../../api/client";
import type { DiagnosedPart, IterationWindow } from "../../api/types";
import { formatCount, formatCounted, withinSentence } from "../../format/number";
import { typeset } from "../../format/sentence";
import { formatShare } from "../../format/share";
import { exactDuration, formatDuration } from "../../format/time";
import { useDiagnosis, useLacking } from "../../frame/use_diagnosis";
import { useQuery } from "../../frame/use_query";
import { ViewLink } from "../../components/view_link";
import { exposedOf, partKinds } from "../../model/parts";
import { shortPath } from "../../model/short_place";
import { timelineLink, type View } from "../../model/timeline_link";
import type { Sums } from "./use_sums";

/** The sum of what is not work. */
const idleOf = (
  parts: Readonly<Record<string, number>>,
  unit: string,
): { key: DiagnosedPart; label: string; colour: string; ns: number; idle: boolean }[] =>
  partKinds(unit)
    .map(({ key, label, colour }, at) => ({ key, label, colour, ns: parts[key] ?? 0, idle: at > 4 }))
    .filter(({ ns }) => ns > 0);

/** How a sentence goes on after a time, where the name of the part alone would not be one. */
const SPENT: Partial<Record<DiagnosedPart, string>> = {
  queued: "although work was queued",
  blocked: "in blocking calls",
  data_loader: "in the data loader",
  host_op: "in ops on the CPU",
  host_code: "in other code on the CPU",
  unrecorded: "while nothing was recorded on the host",
  launch_unknown: "before work whose launch was not recorded",
};

/** What only communication or only copies are called at the end of a sentence. */
const EXPOSED = { communication: "exposed communication", copy: "exposed copies" } as const;

/** Idle time of a smaller share has no causes beside a larger part that the sentence leads with. */
const LEAST_CAUSED = 0.1;

interface HeadlineProps {
  /** Null until they are known: the room for the sentence is kept, so that nothing below it moves. */
  sums: Sums | null;
  unit: string;
  /** Where a window lies: `of iteration 5`. */
  placeOf: (range: View) => string;
  /** Where the window is a typical iteration: the longest one, if it is much longer. */
  longest: IterationWindow | undefined;
  /** The GPU, where there are several. */
  device: number | null;
  scope: { profile: string; aggregation: number | null; domain: string | null };
}

const NOTHING: Sums = { parts: {}, range: { from: 0, to: 1 }, dragged: false };

export function Headline({ sums, unit, placeOf, longest, device, scope }: HeadlineProps) {
  const { parts, range, dragged } = sums ?? NOTHING;
  const all = idleOf(parts, unit);
  const causes = all.filter(({ idle }) => idle).sort((a, b) => b.ns - a.ns);
  const idle = causes.reduce((sum, { ns }) => sum + ns, 0);
  const { data: diagnosis, loading } = useDiagnosis();
  const found = diagnosis?.findings.find(({ missing_work: missing }) => missing !== null);
  // Launched work that waits may wait for work that was not recorded, where some was not.
  const mayRun = found !== undefined && (parts.queued ?? 0) > idle / 2;
  const wall = range.to - range.from;
  const exposed = exposedOf(parts, wall);
  const leads = (exposed[0]?.ns ?? 0) > idle;
  const shownCauses = leads && idle < LEAST_CAUSED * wall ? [] : causes.slice(0, 2);
  const asked = useQuery(
    idle > 0 ? `gaps ${scope.profile} ${device ?? ""} ${range.from} ${range.to}` : null,
    (signal) =>
      fetchTable(
        {
          ...scope,
          table: "gap_groups",
          offset: 0,
          limit: 1,
          sort: "-total_ns",
          search: "",
          where: {},
          links: {
            from: String(range.from),
            to: String(range.to),
            ...(device === null ? {} : { device: String(device) }),
          },
        },
        signal,
      ),
  );
  const top = asked.loading ? null : asked.data;
  const where = dragged ? "of this selection" : placeOf(range);
  const span = typeset(`the ${formatDuration(wall)} ${where}`);
  const who = device === null ? "The GPU" : `GPU ${device}`;
  const begins =
    mayRun && idle > 0
      ? `No kernel or copy is recorded ${device === null ? "" : `on ${who} `}for`
      : `${who} is ${idle === 0 ? "never idle" : leads ? "idle for" : "idle"}`;
  const named = exposed.map(({ key, ns }, at) => (
    <>
      {at > 0 && ", "}
      <strong class="nowrap" data-tip={partKinds(unit).find((kind) => kind.key === key)?.about}>
        {formatDuration(ns)} ({formatShare(ns / wall)})
      </strong>
      {at === 0 && `${leads ? ` of ${span}` : ""} ${key === "copy" ? "are" : "is"}`} {EXPOSED[key]}
    </>
  ));
  const row = top?.rows[0];
  const op = typeof row?.op === "string" && row.op !== "" ? row.op : null;
  const gaps = typeof row?.gaps === "number" ? row.gaps : null;
  const total = typeof row?.total_ns === "number" ? row.total_ns : null;
  const before = op !== null && (
    <>
      {" "}
      before <code data-tip={op}>{shortPath(op)}</code>
    </>
  );
  const gapsInWords = gaps === 1 ? "one gap" : formatCounted(gaps ?? 0, "gap");
  // One group of gaps that is all of the first cause needs no sentence of its own.
  const isAll = gaps !== null && total !== null && total === shownCauses[0]?.ns;
  return (
    <header class="headline timeline-answer">
      <h2 class="timeline-head" data-tip={`${exactDuration(idle)} of ${exactDuration(wall)}`}>
        {sums !== null && !(loading && diagnosis === null) && (
          <>
            {leads && <>{named}; </>}
            {leads ? withinSentence(begins) : begins}
            {idle > 0 && (
              <>
                {" "}
                <strong class="nowrap">
                  {formatDuration(idle)} ({formatShare(idle / wall)})
                </strong>
              </>
            )}
            {!leads && ` ${idle === 0 ? "in" : "of"} ${span}`}
            {!leads && exposed.length > 0 && <>; {named}</>}.
          </>
        )}
      </h2>
      <p class="model-line">
        <span class="clip">
          {shownCauses.map(({ key, label, ns }, at) => (
            <>
              {at > 0 && ", "}
              <strong>{formatDuration(ns)}</strong> {SPENT[key] ?? withinSentence(label)}
              {at === 0 && isAll && (
                <>
                  {" "}
                  (in {gapsInWords}
                  {before})
                </>
              )}
              {key === "queued" && found !== undefined && (
                <>
                  {" "}
                  (
                  <ViewLink to={{ view: "recommendations", "findings.open": found.rule }}>
                    {withinSentence(found.heading)}
                  </ViewLink>
                  )
                </>
              )}
            </>
          ))}
          {shownCauses.length > 0 && ". "}
          {idle > 0 &&
            gaps !== null &&
            !isAll &&
            (total === idle ? (
              <>
                The idle time is {gapsInWords}
                {before}.
              </>
            ) : (
              <>
                Idle longest{before}: {formatDuration(total ?? 0)} in {gapsInWords}.
              </>
            ))}
          {longest !== undefined && sums !== null && (
            <>
              {" "}
              A typical iteration;{" "}
              <ViewLink to={timelineLink({ from: longest.start, to: longest.stop })}>
                iteration {formatCount(longest.iteration)} took {formatDuration(longest.stop - longest.start)}
              </ViewLink>
              .
            </>
          )}
        </span>
      </p>
    </header>
  );
}

/** The times of `parts`, of all that the window has: what a part of it lacks is still in the picture. */
export function Legend({
  unit,
  parts,
  listed,
  device,
}: {
  unit: string;
  device: number;
  parts: Readonly<Record<string, number>>;
  listed: Readonly<Record<string, number>>;
}) {
  const lacks = useLacking().has(device);
  return (
    <ul class="legend timeline-legend">
      {partKinds(unit)
        .filter(({ key }) => (parts[key] ?? 0) + (listed[key] ?? 0) > 0)
        .map(({ key, label, colour }) => (
          <li key={key} data-tip={exactDuration(parts[key] ?? 0)}>
            <span class={lacks && key === "queued" ? "swatch striped" : "swatch"} style={{ backgroundColor: colour }} />{" "}
            {label} <span class="muted number">{formatDuration(parts[key] ?? 0)}</span>
          </li>
        ))}
    </ul>
  );
}
