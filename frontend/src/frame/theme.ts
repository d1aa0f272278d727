/** Light or dark, as TensorBoard is. */
import { createContext } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

import { watchTheme, type Theme } from "../host/tensorboard";

/** For what draws its parts in steps: the theme asks for all of them again. */
export const ThemeContext = createContext<Theme>("light");

/** Follows the theme, and shows the page in it. */
export function useTheme(): Theme {
  const [theme, setTheme] = useState<Theme>("light");
  // Before the first picture: a dark page must not flash white.
  useLayoutEffect(() => watchTheme(setTheme), []);
  useLayoutEffect(() => {
    // Paper is white, whatever the theme of the screen.
    const paper = window.matchMedia("print");
    const apply = (): void => {
      const { dataset } = document.documentElement;
      const before = dataset.theme;
      dataset.theme = paper.matches ? "light" : theme;
      // Every element's style is found anew: here, so that the next frame has no more to do than to paint them.
      if (before !== undefined) getComputedStyle(document.documentElement).getPropertyValue("color");
    };
    apply();
    paper.addEventListener("change", apply);
    return () => paper.removeEventListener("change", apply);
  }, [theme]);
  return theme;
}
