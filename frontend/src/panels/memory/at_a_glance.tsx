/** What a snapshot of memory tells, on the Dashboard: the course over time, and what to change. */
import { fetchMemory } from "../../api/client";
import type { MemoryResponse } from "../../api/types";
import { Icon } from "../../components/icon";
import { ErrorBox, Loading } from "../../components/message";
import { Panel } from "../../components/panel";
import { ViewLink } from "../../components/view_link";
import { scopeKey, useScope } from "../../frame/scope";
import { useQuery } from "../../frame/use_query";
import { Findings } from "./findings";
import { fullestOf } from "./memory";
import { MemoryCurve, WholeRecording } from "./memory_curve";

export function MemoryAtAGlance() {
  const scope = useScope();
  const query = useQuery<MemoryResponse>(scopeKey(scope, "memory"), (signal) => fetchMemory(scope, signal));
  const memory = query.data;
  if (memory === null)
    return query.error === null ? <Loading what="memory" /> : <ErrorBox error={query.error} retry={query.reload} />;
  const id = fullestOf(memory);
  const device = id === undefined ? undefined : memory.devices[id];
  if (id === undefined || device === undefined) return null;
  return (
    <>
      {device.events > 0 && (
        <Panel
          title={`Memory over Time, GPU ${id}`}
          about="A click opens what is held at that moment; drag to zoom in."
          picture
          tools={
            <>
              <WholeRecording />
              <ViewLink class="more-button" to={{ view: "memory" }}>
                Memory <Icon name="right" />
              </ViewLink>
            </>
          }
        >
          <MemoryCurve id={id} device={device} time={null} />
        </Panel>
      )}
      <Findings findings={device.findings} />
    </>
  );
}
