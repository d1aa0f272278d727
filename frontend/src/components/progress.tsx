import { formatShare } from "../format/share";

/** How far something is; a fraction of null moves without end. */
export function Progress({ fraction, label }: { fraction: number | null; label: string }) {
  return (
    <div
      class={fraction === null ? "progress indeterminate" : "progress"}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={fraction === null ? undefined : Math.round(fraction * 100)}
      aria-valuetext={fraction === null ? "under way" : formatShare(fraction)}
    >
      <div style={fraction === null ? {} : { width: `${fraction * 100}%` }} />
    </div>
  );
}
