/** The name of a profile's run. */
import type { ProfileEntry } from "../api/types";

/** Empty for profiles of the log directory itself. */
export const runOf = (profiles: readonly ProfileEntry[], id: string): string =>
  profiles.find((each) => each.id === id)?.run.replace(/^\.$/, "") ?? "";
