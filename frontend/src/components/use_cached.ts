import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

/** The element of a key: as it was drawn before, which is not even compared then, or drawn anew where it looks otherwise now. */
export type Keep = (key: string, look: string, draw: () => VNode) => VNode;

/**
 * For hundreds of elements of which an interaction changes a few. All are drawn anew where one of `from` is another than before;
 * `look` says what else an element is drawn from. What an element calls must be as good later: it may be of an earlier drawing.
 */
export function useCached(from: readonly unknown[]): Keep {
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the caller's list
  const nodes = useMemo(() => new Map<string, { look: string; node: VNode }>(), from);
  return (key, look, draw) => {
    const before = nodes.get(key);
    if (before?.look === look) return before.node;
    const node = draw();
    nodes.set(key, { look, node });
    return node;
  };
}
