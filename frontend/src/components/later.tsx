import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { inTurn } from "./turns";

const NOTHING = Symbol("nothing is drawn yet");

/**
 * Content that takes long to draw, and appears one frame after what surrounds it: at first, and whenever `of`, from which it is
 * drawn, changes. Until then it stays as it was; at first, room of about its `height` is kept.
 */
export function Later({ of, height, children }: { of: object; height: string; children: ComponentChildren }) {
  const [due, setDue] = useState<object | typeof NOTHING>(NOTHING);
  const drawn = useRef<ComponentChildren>(null);
  useLayoutEffect(() => (due === of ? undefined : inTurn(() => setDue(of), 0)), [due, of]);
  if (due === of) drawn.current = children;
  return <>{drawn.current ?? <div style={{ height }} />}</>;
}
