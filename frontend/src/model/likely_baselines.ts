/** Which profiles are worth comparing with: those of the same rank that stand nearest, by the folders of their runs. */
import type { ProfileEntry } from "../api/types";

type Known = Pick<ProfileEntry, "id" | "run" | "rank" | "state" | "headline">;

/** How many folders two runs have in common, from the top. */
function inCommon(one: string, other: string): number {
  const [parts, others] = [one.split("/"), other.split("/")];
  const first = parts.findIndex((part, i) => part !== others[i]);
  return first < 0 ? parts.length : first;
}

/** At most `most`, the nearest first; among equally near ones the order of the list, which is that of the picker. */
export function likelyBaselines<Profile extends Known>(profiles: readonly Profile[], id: string, most = 4): Profile[] {
  const self = profiles.find((each) => each.id === id);
  if (self === undefined) return [];
  return profiles
    .filter(
      ({ id: other, state, rank, headline }) =>
        other !== id && state === "ready" && rank === self.rank && (headline?.gpu_names.length ?? 0) > 0,
    )
    .sort((one, other) => inCommon(other.run, self.run) - inCommon(one.run, self.run))
    .slice(0, most);
}
