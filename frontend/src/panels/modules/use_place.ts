/** Zoom and pan of the graph: at once while the user moves it, in the URL when that pauses. */
import { useEffect, useState } from "preact/hooks";

import { forgetPending, navigate, useUrl, writeSoon } from "../../frame/url";
import type { Place } from "../../model/graph_layout";

const PAUSE_MS = 200;

function placeOf(text: string | undefined): Place | null {
  const [scale, left, top] = (text ?? "").split("_").map(Number);
  if (scale === undefined || left === undefined || top === undefined) return null;
  return scale > 0 && Number.isFinite(left) && Number.isFinite(top) ? { scale, left, top } : null;
}

/** Null until the user moves it. */
export function usePlace(): [Place | null, (place: Place | null) => void] {
  const settled = placeOf(useUrl()["groups.place"]);
  const [moving, setMoving] = useState<Place | null>(null);
  useEffect(() => forgetPending, []);
  const show = (place: Place | null): void => {
    forgetPending();
    setMoving(place);
    const write = (): void => {
      const text =
        place === null
          ? null
          : [place.scale.toFixed(3), Math.round(place.left), Math.round(place.top)].map(String).join("_");
      navigate({ "groups.place": text });
      setMoving(null);
    };
    if (place === null) write();
    else writeSoon(write, PAUSE_MS);
  };
  return [moving ?? settled, show];
}
