/** The moments that a finding's evidence names: the longest stretch of each of its places, to be shown on the timeline. */
import type { DiagnosedEvidence } from "../api/types";
import { shortKernelName, splitPath } from "./kernel_name";
import { endsApart, shortPath } from "./short_place";
import { evidenceLink } from "./timeline_link";
import type { Changes } from "./url_state";

export interface Moment {
  /** In ns since the start of the capture. */
  from: number;
  to: number;
  /** The GPU that waited; null where it is not told. */
  device: number | null;
  what: string;
  /** The op or call alone; where others are called the same, with as much of its path as tells them apart. */
  name: string;
  /** How often this call or kernel is in this place, as the evidence counts; null if that is not known. */
  count: number | null;
  /** The same with the whole name of a kernel and the whole path. */
  full: string;
}

const MOST = 3;

const inWords = (call: string | null, path: string): string => [...new Set([call, path].filter(Boolean))].join(" in ");

/** The longest stretch that a row of evidence names; null if it names none. */
export const momentOf = ({
  from_ns: from,
  to_ns: to,
  device,
  path,
  call,
  kind,
  count,
}: DiagnosedEvidence): Moment | null =>
  from === null || to === null || to <= from
    ? null
    : {
        from,
        to,
        device: device !== null && /^\d+$/.test(device) ? Number(device) : null,
        what: inWords(shortKernelName(call ?? ""), shortPath(path)),
        name: nameOf(path || (call ?? ""), kind === "kernel" || path === ""),
        count,
        full: inWords(call, path),
      };

function nameOf(text: string, isSymbol: boolean): string {
  if (isSymbol && !text.startsWith("/")) return shortKernelName(text);
  const { place, name } = splitPath(text);
  // The number of a layer alone says nothing: `layers/0`.
  return /^\d+$/.test(name) ? `${place.split("/").at(-2) ?? ""}/${name}`.replace(/^\//, "") : name;
}

/** What stands before them. `exposed`: nothing hides what runs in them. */
export const momentHead = (count: number, exposed: boolean): string =>
  exposed ? "Longest exposed" : count > 1 ? "Longest" : "On the timeline";

/** The longest stretch in each of the places that evidence names, on each GPU, longest first. */
export function momentsOf(evidence: readonly DiagnosedEvidence[]): Moment[] {
  const places = new Map<string, { moment: Moment; path: string }>();
  for (const row of evidence) {
    const moment = momentOf(row);
    if (moment === null) continue;
    const path = row.path || (row.call ?? "");
    const key = `${moment.device} ${path}`;
    const { moment: other = null } = places.get(key) ?? {};
    // One place has a row for each of its kernels and calls.
    if (other === null || moment.to - moment.from > other.to - other.from) places.set(key, { moment, path });
  }
  const longest = [...places.values()]
    .sort(({ moment: a }, { moment: b }) => b.to - b.from - (a.to - a.from))
    .slice(0, MOST);
  const alike = (name: string): string[] => [
    ...new Set(longest.flatMap(({ moment, path }) => (moment.name === name ? [path] : []))),
  ];
  return longest.map(({ moment, path }) => {
    const others = alike(moment.name);
    return others.length > 1 ? { ...moment, name: endsApart(others).get(path) ?? moment.name } : moment;
  });
}

/** Where the timeline shows the longest of them, with what is there selected; null if none names a moment. */
export function longestLink(evidence: readonly DiagnosedEvidence[]): Changes | null {
  const [longest] = momentsOf(evidence);
  return longest === undefined ? null : evidenceLink(longest.from, longest.to, longest.device);
}
