/** Beside what kernels could gain: that all of the time may gain less, where kernels run for a part of the time only. */
import { useScope } from "../frame/scope";
import type { Running } from "../model/parts";
import { iterationGain } from "../model/iteration_gain";
import { ViewLink } from "./view_link";

/** `running` tells of the time that the page is about, where that is another than DLProf's. */
export function IterationGain({ running = null }: { running?: Running | null }) {
  const { busy } = useScope();
  const text = running === null ? iterationGain(busy) : iterationGain(running.share, running.said);
  if (text === "") return null;
  return (
    <>
      {text} See{" "}
      <ViewLink class="link-button" to={{ view: "recommendations" }}>
        Recommendations
      </ViewLink>
      .
    </>
  );
}
