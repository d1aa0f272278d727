/** Beside what kernels could gain: that an iteration may gain less, where kernels run for a part of the time only. */
import { useScope } from "../frame/scope";
import { iterationGain } from "../model/iteration_gain";
import { ViewLink } from "./view_link";

export function IterationGain() {
  const text = iterationGain(useScope().busy);
  if (text === "") return null;
  return (
    <>
      {text}{" "}
      <ViewLink class="link-button" to={{ view: "recommendations" }}>
        Recommendations
      </ViewLink>{" "}
      tell what an iteration gains, as far as that is known.
    </>
  );
}
