/** Start, stop, what separates the iterations, and the button that aggregates them anew. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { startAggregation } from "../../api/client";
import type { DashboardResponse, IterationsResponse } from "../../api/types";
import { Dialog } from "../../components/dialog";
import { Icon } from "../../components/icon";
import { OneStop } from "../../components/one_stop";
import { Info } from "../../components/tooltip";
import { useMyJobs } from "../../frame/jobs";
import { asApiError } from "../../frame/use_query";
import { formatCount, formatCounted } from "../../format/number";
import { nameOfWay } from "../../model/aggregation";
import { rangeText } from "../../model/iterations";
import { KeyNodeDialog } from "./key_node_dialog";
import type { Choice } from "./use_choice";

interface RangeFormProps {
  data: DashboardResponse;
  iterations: IterationsResponse;
  choice: Choice;
  /** Whether this server aggregates anew at all. */
  allowed: boolean;
}

export function RangeForm({ data, iterations, choice, allowed }: RangeFormProps) {
  const [picking, setPicking] = useState(false);
  const [confirming, setConfirming] = useState(false);
  const [error, setError] = useState("");
  const jobs = useMyJobs();
  const ways = data.iterations.source.candidates;
  const { proposal } = data.iterations;
  const first = iterations.first ?? 0;
  const last = iterations.last ?? 0;

  const start = (): void => {
    setConfirming(false);
    setError("");
    startAggregation(data.profile.id, choice.request).then(jobs.follow, (failure: unknown) => {
      const { message, hint } = asApiError(failure);
      setError(`${message} ${hint}`);
    });
  };

  return (
    <div class="range-form">
      {!allowed && (
        <p class="muted">
          <Icon name="info" /> This server does not re-aggregate (it was started with --dlprof_reaggregate off). On a
          command line: <code>dlprof aggregate DATABASE --iter-start N --iter-stop N</code>
        </p>
      )}
      <fieldset disabled={!allowed}>
        <legend class="visually-hidden">A new aggregation</legend>
        <NumberField
          label="Select Iter Start"
          value={choice.start}
          placeholder="first"
          lowest={choice.sameIterations ? first : 0}
          highest={choice.sameIterations ? (choice.stop ?? last) : 1e9}
          onChange={(value) => choice.setRange({ start: value })}
        />
        <NumberField
          label="Select Iter Stop"
          value={choice.stop}
          placeholder="last"
          lowest={choice.sameIterations ? (choice.start ?? first) : 0}
          highest={choice.sameIterations ? last : 1e9}
          onChange={(value) => choice.setRange({ stop: value })}
        />
        <OneStop>
          {ways.length > 0 && (
            <label class="field">
              <span>Iterations by</span>
              <select
                class="input"
                value={choice.keyOp === "" ? choice.way : ""}
                onChange={(event) => {
                  if (event.currentTarget.value === "") setPicking(true);
                  else choice.setWay(event.currentTarget.value);
                }}
              >
                {ways.map((way) => (
                  <option key={`${way.kind} ${way.label}`} value={nameOfWay(way)}>
                    {nameOfWay(way)} ({formatCount(way.count)})
                  </option>
                ))}
                <option value="">a key node</option>
              </select>
            </label>
          )}
          <div class="field field-wide">
            <span>
              Select Key Node{" "}
              <Info
                term="Key node"
                text="The op that runs once in every iteration: its ends separate the iterations."
              />
            </span>
            <span class="key-node">
              <input
                class="input"
                readOnly
                tabIndex={-1}
                aria-label="Key node"
                value={choice.keyOp}
                placeholder="none"
                data-tip={choice.keyOp === "" ? undefined : choice.keyOp}
              />
              <button type="button" class="button" onClick={() => setPicking(true)}>
                Pick …
              </button>
            </span>
          </div>
        </OneStop>
        <button
          type="button"
          class="button button-primary"
          disabled={!choice.changed || choice.problem !== "" || jobs.mine.some(({ state }) => state === "running")}
          onClick={() => setConfirming(true)}
        >
          Reaggregate
        </button>
        {choice.changed && (
          <button type="button" class="button" onClick={choice.reset}>
            Reset
          </button>
        )}
      </fieldset>
      {choice.problem !== "" && <p class="table-error">{choice.problem}</p>}
      {error !== "" && (
        <p class="table-error" role="alert">
          {error}
        </p>
      )}
      {!choice.sameIterations && (
        <p class="muted">
          These will be other iterations than those above: their numbers are known once they are aggregated. Empty means
          first and last.
        </p>
      )}
      {proposal !== null && (choice.start !== proposal.iter_start || choice.stop !== proposal.iter_stop) && (
        <p class="proposal">
          <Icon name="info" /> {proposal.reason}{" "}
          {allowed && (
            <button
              type="button"
              class="button"
              onClick={() => choice.setRange({ start: proposal.iter_start, stop: proposal.iter_stop })}
            >
              Use {rangeText(proposal.iter_start, proposal.iter_stop)}
            </button>
          )}
        </p>
      )}
      {picking && <KeyNodeDialog onPick={choice.setKeyOp} onClose={() => setPicking(false)} />}
      {confirming && (
        <Confirm choice={choice} iterations={iterations} onClose={() => setConfirming(false)} onConfirm={start} />
      )}
    </div>
  );
}

interface ConfirmProps {
  choice: Choice;
  iterations: IterationsResponse;
  onClose: () => void;
  onConfirm: () => void;
}

function Confirm({ choice, iterations, onClose, onConfirm }: ConfirmProps) {
  const { start, stop, keyOp, way } = choice;
  const count = start !== null && stop !== null ? ` (${formatCounted(stop - start + 1, "iteration")})` : "";
  return (
    <Dialog title="Reaggregate with these values?" onClose={onClose}>
      <dl class="properties">
        <div>
          <dt>Iterations</dt>
          <dd>
            {start ?? "first"} to {stop ?? "last"}
            {count}, now {iterations.iter_start ?? "first"} to {iterations.iter_stop ?? "last"}
          </dd>
        </div>
        <div>
          <dt>Separated by</dt>
          <dd>{keyOp === "" ? way || "as now" : `key node ${keyOp}`}</dd>
        </div>
      </dl>
      <p class="muted">
        This can take a while. It runs beside the server: every page stays usable, and the aggregation that is shown
        stays as it is. The result is a new entry of the menu Iterations.
      </p>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button button-primary" onClick={onConfirm}>
          Reaggregate
        </button>
      </div>
    </Dialog>
  );
}

interface NumberFieldProps {
  label: string;
  value: number | null;
  placeholder: string;
  lowest: number;
  highest: number;
  onChange: (value: number | null) => void;
}

/** A number to type, to spin with the arrows, or to turn with the mouse wheel above it. */
function NumberField({ label, value, placeholder, lowest, highest, onChange }: NumberFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const turn = useRef<(by: number) => void>(() => undefined);
  turn.current = (by) => onChange(Math.min(Math.max((value ?? lowest) + by, lowest), highest));
  useLayoutEffect(() => {
    const element = input.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      if (element.matches(":disabled")) return;
      event.preventDefault();
      turn.current((event.deltaY < 0 ? 1 : -1) * (event.shiftKey ? 10 : 1));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
  return (
    <label class="field">
      <span>{label}</span>
      <input
        ref={input}
        type="number"
        class="input"
        // Nothing to choose is no tab stop.
        disabled={lowest === highest && value === lowest}
        min={lowest}
        max={highest === 1e9 ? undefined : highest}
        step={1}
        value={value ?? ""}
        placeholder={placeholder}
        onInput={(event) => {
          const typed = event.currentTarget.value;
          const number = Number(typed);
          if (typed === "") onChange(null);
          else if (Number.isInteger(number) && number >= 0 && number < 1e9) onChange(number);
        }}
      />
    </label>
  );
}
