/** Which iterations are aggregated: all choices so far, each "start .. stop" with its key node; those added can be deleted. */
import { useState } from "preact/hooks";

import { deleteAggregation } from "../api/client";
import type { DashboardResponse } from "../api/types";
import { Icon } from "../components/icon";
import { useMenu } from "../components/use_menu";
import { formatCounted } from "../format/number";
import { aggregationLabel, iterationsBy } from "../model/aggregation";
import { asApiError } from "./use_query";
import { useMyJobs } from "./jobs";
import { navigate } from "./url";

export function AggregationMenu({ data, allowDeletion }: { data: DashboardResponse; allowDeletion: boolean }) {
  const { open, setOpen, holder, button, close, onKeyDown } = useMenu();
  const { follow } = useMyJobs();
  const [asked, setAsked] = useState<number | null>(null);
  const [error, setError] = useState("");
  const { aggregations, aggregation } = data;
  const shown = aggregations.find(({ id }) => id === aggregation);
  const first = aggregations[0]?.id;
  const remove = (id: number): void => {
    setError("");
    setAsked(null);
    deleteAggregation(data.profile.id, id).then(
      (job) => {
        if (id === aggregation) navigate({ aggregation: null });
        follow(job);
      },
      (failure: unknown) => setError(asApiError(failure).message),
    );
  };
  return (
    <div class="menu-holder aggregation-menu" ref={holder} onKeyDown={onKeyDown}>
      <span aria-hidden="true">Iterations</span>
      <button
        type="button"
        class="button"
        ref={button}
        aria-expanded={open}
        aria-label={`Aggregation: iterations ${shown === undefined ? "" : aggregationLabel(shown)}`}
        data-tip={open || shown === undefined ? undefined : iterationsBy(shown)}
        onClick={() => {
          setAsked(null);
          setOpen(!open);
        }}
      >
        {shown === undefined ? "" : aggregationLabel(shown)} <Icon name="down" />
      </button>
      {open && (
        <div class="menu" role="group" aria-label="Aggregations">
          {error !== "" && <p class="table-error">{error}</p>}
          {aggregations.map((each) => (
            <div class="aggregation-entry" key={each.id}>
              <button
                type="button"
                class="menu-item"
                aria-current={each.id === aggregation ? "true" : undefined}
                data-tip={iterationsBy(each) === "" ? undefined : iterationsBy(each)}
                onClick={() => {
                  close();
                  navigate({ aggregation: String(each.id) }, true);
                }}
              >
                <span class="number">{aggregationLabel(each)}</span>
                <span class="muted aggregation-by">
                  {[each.iterations === null ? "" : formatCounted(each.iterations, "iteration"), iterationsBy(each)]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </button>
              {allowDeletion && each.id !== first && (
                <button
                  type="button"
                  class={asked === each.id ? "button button-danger" : "icon-button"}
                  aria-label={`${asked === each.id ? "Really delete" : "Delete"} ${aggregationLabel(each)}`}
                  data-tip="Delete this aggregation; the profile itself stays as it is"
                  onClick={() => (asked === each.id ? remove(each.id) : setAsked(each.id))}
                >
                  {asked === each.id ? "Delete?" : <Icon name="trash" />}
                </button>
              )}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
