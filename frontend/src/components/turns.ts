/** Steps of drawing, one to a frame, whatever they are of: two at once would hold the browser for twice as long. */
const steps: (() => void)[] = [];

function afterFrame(): void {
  requestAnimationFrame(() =>
    setTimeout(() => {
      steps.shift()?.();
      if (steps.length > 0) afterFrame();
    }),
  );
}

/** Runs `step` when its turn has come, `restMs` from now or later. Returns how to take it back. */
export function inTurn(step: () => void, restMs: number): () => void {
  const enter = (): void => {
    if (steps.push(step) === 1) afterFrame();
  };
  const timer = restMs > 0 ? setTimeout(enter, restMs) : undefined;
  if (timer === undefined) enter();
  return () => {
    clearTimeout(timer);
    const at = steps.indexOf(step);
    if (at >= 0) steps.splice(at, 1);
  };
}
