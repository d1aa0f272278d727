/** The colours of the timeline as the page's styles say now: the theme changes them, and so does paper, which is always light. */
import { useContext, useEffect, useMemo, useState } from "preact/hooks";

import { useScope } from "../../frame/scope";
import { ThemeContext } from "../../frame/theme";
import { partKinds } from "../../model/parts";
import type { TimelineOverview } from "../../api/types";
import { paletteOf, type Palette } from "./drawing";

export function useColours(overview: TimelineOverview): Palette {
  const theme = useContext(ThemeContext);
  const { matrixUnit } = useScope();
  const [themed, setThemed] = useState(0);
  useEffect(() => {
    const observer = new MutationObserver(() => setThemed((count) => count + 1));
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => observer.disconnect();
  }, []);
  return useMemo(() => {
    const parts = new Map(partKinds(matrixUnit).map(({ key, colour }) => [key as string, colour]));
    return paletteOf(overview, parts, document.documentElement);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the colours are read from the page's styles, which the theme changes
  }, [overview, theme, themed, matrixUnit]);
}
