/** The list of profiles, for pages that look at several. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import type { ProfileEntry, ProfilesResponse } from "../api/types";

export interface KnownProfiles {
  profiles: readonly ProfileEntry[];
  importMode: ProfilesResponse["import_mode"];
  /** Whether this server aggregates other iterations. */
  reaggregates: boolean;
  reload: () => void;
}

export const ProfilesContext = createContext<KnownProfiles>({
  profiles: [],
  importMode: "off",
  reaggregates: false,
  reload: () => undefined,
});

/** The baseline, if it is in the list but cannot be compared with yet: it has to be imported first. */
export function useUnready(base: string): ProfileEntry | null {
  const { profiles } = useContext(ProfilesContext);
  const baseline = profiles.find(({ id }) => id === base);
  return baseline === undefined || baseline.state === "ready" ? null : baseline;
}
