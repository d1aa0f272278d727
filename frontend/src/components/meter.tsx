import { formatShare } from "../format/share";

interface MeterProps {
  label: string;
  /** Null where it is not known. */
  share: number | null;
  tip: string;
}

/** An item of a list: a share of a limit as a bar with its number. */
export function Meter({ label, share, tip }: MeterProps) {
  return (
    <li data-tip={tip}>
      <span>{label}</span>
      <span class="meter-track" aria-hidden="true">
        <span style={{ width: `${Math.min(share ?? 0, 1) * 100}%` }} />
      </span>
      <span class={share === null ? "unknown" : "number"}>{formatShare(share)}</span>
    </li>
  );
}
