/** Files in the log directory that are no profiles, told by their reasons. */
import type { NamedFile, OtherFile } from "../api/types";

/** The files of one folder. */
export interface OtherFolder {
  /** Empty for the log directory itself. */
  folder: string;
  names: string[];
}

export interface OtherGroup {
  /** The rest of a sentence that begins with what the files are called. */
  reason: string;
  count: number;
  folders: OtherFolder[];
}

/** Run and file in one, which both may have folders. */
export const pathOf = ({ run, name }: NamedFile): string => (run === "." ? name : `${run}/${name}`);

/** The files by reason, then by folder; the reason of most files first. */
export function otherGroups(files: readonly OtherFile[]): OtherGroup[] {
  const groups = new Map<string, Map<string, string[]>>();
  for (const file of files) {
    const path = pathOf(file);
    const at = path.lastIndexOf("/") + 1;
    const folders = groups.get(file.reason) ?? new Map<string, string[]>();
    groups.set(file.reason, folders);
    const folder = path.slice(0, at);
    folders.set(folder, [...(folders.get(folder) ?? []), path.slice(at)]);
  }
  return [...groups]
    .map(([reason, folders]) => ({
      reason,
      count: [...folders.values()].reduce((sum, names) => sum + names.length, 0),
      folders: [...folders].map(([folder, names]) => ({ folder, names })),
    }))
    .sort((a, b) => b.count - a.count);
}
