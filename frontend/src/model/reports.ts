/** Reports of other tools in the log directory: what they are, and how to import their profiles. */
import type { NamedFile } from "../api/types";
import { pathOf } from "./other_files";

export interface ReportKind {
  what: string;
  /** What to do, with the command last where there is one. */
  advice: string;
  command: string;
}

const NSIGHT: ReportKind = {
  what: "a report of Nsight Systems",
  advice: "Export it to a database, which opens here:",
  command: "nsys export --type sqlite",
};

const KINDS: readonly (readonly [ending: string, kind: ReportKind])[] = [
  [".nsys-rep", NSIGHT],
  [".qdrep", NSIGHT],
  [
    ".ncu-rep",
    {
      what: "a report of Nsight Compute: counters of kernels, no profile of the program",
      advice: "Give its table as counters when you import a profile:",
      command: "dlprof import --counters",
    },
  ],
  [
    ".rpd",
    {
      what: "a profile of ROCm's rpd, which is not supported",
      advice: "Record the program with the PyTorch profiler.",
      command: "",
    },
  ],
];

export interface ReportGroup extends ReportKind {
  files: string[];
}

/** The files by kind, in the order in which the kinds are found. */
export function reportGroups(reports: readonly NamedFile[]): ReportGroup[] {
  const groups = new Map<ReportKind, string[]>();
  for (const { run, name } of reports) {
    const kind = KINDS.find(([ending]) => name.toLowerCase().endsWith(ending))?.[1];
    if (kind === undefined) continue;
    groups.set(kind, [...(groups.get(kind) ?? []), pathOf({ run, name })]);
  }
  return [...groups].map(([kind, files]) => ({ ...kind, files }));
}
