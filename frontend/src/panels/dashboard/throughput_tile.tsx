/** Throughput: samples and tokens a second, else iterations; where shapes do not tell what an iteration works on, the user says it. */
import { useState } from "preact/hooks";

import { fetchThroughput } from "../../api/client";
import type { Throughput } from "../../api/types";
import { Dialog } from "../../components/dialog";
import { exactNumber, significant } from "../../format/number";
import { scopeKey, useScope } from "../../frame/scope";
import { navigate, useUrl } from "../../frame/url";
import { useQuery } from "../../frame/use_query";

const UNITS = ["samples", "tokens"] as const;

interface ThroughputTileProps {
  throughput: Throughput;
  /** Mean length of an iteration; null where none is marked. */
  iteration_ns: number | null;
}

export function ThroughputTile({ throughput, iteration_ns: iteration }: ThroughputTileProps) {
  const scope = useScope();
  const { samples = "", tokens = "" } = useUrl();
  const [asking, setAsking] = useState(false);
  const isGiven = samples !== "" || tokens !== "";
  const query = useQuery<Throughput>(isGiven ? scopeKey(scope, "throughput", samples, tokens) : null, (signal) =>
    fetchThroughput(scope, samples, tokens, signal),
  );
  const shown = (isGiven ? query.data : null) ?? throughput;
  const known = UNITS.filter((unit) => shown[`${unit}_per_s`] !== null);
  const of = (unit: (typeof UNITS)[number], key: "per_s" | "per_s_per_gpu"): string =>
    significant(shown[`${unit}_${key}`] ?? 0);
  const [first = "samples", second] = known;
  const perSecond = iteration === null ? null : significant(1e9 / iteration);
  const rates = known.map(
    (unit) => `${of(unit, "per_s")} ${unit}/s${shown.gpus > 1 ? `, ${of(unit, "per_s_per_gpu")} on each GPU` : ""}.`,
  );
  if (perSecond !== null) rates.push(`${perSecond} iterations/s, from their mean duration.`);
  const tip = [
    query.error?.message ?? `${shown.basis}.`,
    ...rates,
    ...(rates.length > 0 ? ["Higher is better."] : []),
  ].join(" ");
  return (
    <li class="panel" data-tip={tip}>
      <span class="tile-value number">
        {known.length > 0 ? of(first, "per_s") : (perSecond ?? "–")}{" "}
        <small>{known.length === 0 && perSecond !== null ? "iterations" : first}/s</small>
      </span>
      <span class="muted">
        {second !== undefined && `${of(second, "per_s")} ${second}/s, `}
        <button
          type="button"
          class={known.length === 0 ? "link-button" : "link-button tile-about"}
          onClick={() => setAsking(true)}
        >
          {known.length === 0
            ? "Enter the batch size"
            : `${exactNumber(Math.round(shown[`${first}_per_iteration`] ?? 0))} in each${second !== undefined ? "" : shown[`${first}_from`] === "given" ? ", given" : ", from shapes"}`}
        </button>
      </span>
      {asking && <Given shown={shown} samples={samples} tokens={tokens} onClose={() => setAsking(false)} />}
    </li>
  );
}

interface GivenProps {
  shown: Throughput;
  samples: string;
  tokens: string;
  onClose: () => void;
}

function Given({ shown, samples, tokens, onClose }: GivenProps) {
  const given = { samples, tokens };
  const present = (unit: (typeof UNITS)[number]): string => {
    const known = shown[`${unit}_per_iteration`];
    return given[unit] || (known === null ? "" : String(Math.round(known)));
  };
  const before = { samples: present("samples"), tokens: present("tokens") };
  const [values, setValues] = useState(before);
  // What nobody changed stays what the shapes tell.
  const chosen = (unit: (typeof UNITS)[number]): string => (values[unit] === before[unit] ? given[unit] : values[unit]);
  return (
    <Dialog title="Samples and Tokens of an Iteration" onClose={onClose}>
      <form
        class="given-batch"
        onSubmit={(event) => {
          event.preventDefault();
          navigate({ samples: chosen("samples"), tokens: chosen("tokens") });
          onClose();
        }}
      >
        {UNITS.map((unit) => (
          <label key={unit}>
            <span>{unit === "samples" ? "Samples" : "Tokens"} of all GPUs in an iteration</span>
            <input
              type="number"
              class="input"
              min="1"
              max="1000000000000"
              value={values[unit]}
              placeholder={unit === "samples" ? "e.g. 32" : "e.g. 4096"}
              onInput={({ currentTarget }) => setValues({ ...values, [unit]: currentTarget.value })}
            />
          </label>
        ))}
        <p class="muted">
          <code>dlprof import --samples-per-iteration N --tokens-per-iteration N</code> keeps them with the profile.
        </p>
        <button type="submit" class="button">
          Apply
        </button>
      </form>
    </Dialog>
  );
}
