/** In place of a page about times, for a recording of memory alone. */
import { useContext } from "preact/hooks";

import { Message } from "../components/message";
import { ViewLink } from "../components/view_link";
import { recordedMeanwhile } from "../model/same_time";
import { ProfilesContext } from "./profiles";
import { useScope } from "./scope";

export function OfMemoryAlone() {
  const { profile } = useScope();
  const { profiles } = useContext(ProfilesContext);
  const [trace] = recordedMeanwhile(profiles, profile);
  return (
    <Message icon="info" title="This recording tells of memory, not of time">
      <p>
        A memory snapshot holds no ops, kernels or iterations.{" "}
        {trace === undefined ? (
          "Record a trace beside it with torch.profiler to see them here."
        ) : (
          <>
            The trace of the same time does: <ViewLink to={{ profile: trace.id }}>{trace.name}</ViewLink>.
          </>
        )}
      </p>
      <ViewLink class="button button-primary" to={{ view: "memory" }}>
        Open Memory
      </ViewLink>
    </Message>
  );
}
