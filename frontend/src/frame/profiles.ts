/** The list of profiles, for pages that look at several. */
import { createContext } from "preact";

import type { ProfileEntry } from "../api/types";

export const ProfilesContext = createContext<readonly ProfileEntry[]>([]);
