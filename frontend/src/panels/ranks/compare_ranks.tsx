/** Offers to compare the ranks of a job of which only single profiles were opened, and tells how far that is. */
import { useEffect, useState } from "preact/hooks";

import { cancelCompareRanks, compareRanks } from "../../api/client";
import { type ApiError } from "../../api/request";
import type { JobOffer } from "../../api/types";
import { ErrorBox, Message, Snippet } from "../../components/message";
import { Progress } from "../../components/progress";
import { formatBytes } from "../../format/bytes";
import { formatCount } from "../../format/number";
import { useScope } from "../../frame/scope";
import { asApiError } from "../../frame/use_query";

/** Profiles whose job was compared without being asked for, as profiles are imported: one that was cancelled is not begun again. */
const begun = new Set<string>();

/** Between questions how far it is. */
const POLL_MS = 1_000;

interface CompareRanksProps {
  rank: number | null;
  world: number | null;
  offer: JobOffer | null;
  /** Asks again. */
  reload: () => void;
}

export function CompareRanks({ rank, world, offer, reload }: CompareRanksProps) {
  const { profile } = useScope();
  const [error, setError] = useState<ApiError | null>(null);
  const isActive = offer?.state === "queued" || offer?.state === "running";
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setInterval(reload, POLL_MS);
    return () => clearInterval(timer);
  }, [isActive, reload]);
  const ask = (action: (id: string) => Promise<unknown>): void => {
    setError(null);
    action(profile).then(reload, (failure: unknown) => setError(asApiError(failure)));
  };
  const isQuick = offer?.is_possible === true && offer.state === "offered" && offer.is_quick;
  useEffect(() => {
    if (!isQuick || begun.has(profile)) return;
    begun.add(profile);
    ask(compareRanks);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once for each profile
  }, [isQuick, profile]);
  const alone = offer !== null && offer.files === 1;
  const title = alone
    ? `${formatCount(offer.processes)} processes were recorded`
    : `This is one of ${formatCount(world)} ranks`;
  if (offer === null)
    return (world ?? 1) < 2 ? null : (
      <p class="panel rank-offer" role="status">
        <strong>
          {rank === null ? `Only one of ${formatCount(world)} ranks` : `Only rank ${rank} of ${formatCount(world)}`} is
          here.
        </strong>{" "}
        <span>
          Put the recordings of the others into the same folder, and this page tells which costs the others time.
        </span>
      </p>
    );
  if (isActive)
    return (
      <div class="panel rank-offer" role="status">
        <strong>Comparing {formatCount(alone ? offer.processes : offer.files)} ranks</strong>
        <span>{offer.state === "queued" ? "Another import is running; this comes next." : offer.progress?.stage}</span>
        <Progress fraction={offer.progress?.fraction ?? null} label="Comparing the ranks" />
        <button type="button" class="button" onClick={() => ask(cancelCompareRanks)}>
          Cancel
        </button>
      </div>
    );
  const why = `Which of them costs the others time, and why, shows once they are compared.${
    alone ? "" : ` ${formatCount(offer.files)} of their recordings are here (${formatBytes(offer.size_bytes)}).`
  }`;
  if (offer.is_possible && offer.state !== "done" && offer.message === "" && error === null)
    return (
      <p class="panel rank-offer" role="status">
        <strong>{title}.</strong> <span>{why}</span>
        <button type="button" class="button button-primary" onClick={() => ask(compareRanks)}>
          Compare the ranks
        </button>
      </p>
    );
  return (
    <Message title={title}>
      <p>{why}</p>
      {offer.state === "done" && <p>They were compared, but this one is not among those that could be.</p>}
      {offer.message !== "" && <p class="muted">{offer.message}</p>}
      {offer.is_possible ? (
        <button type="button" class="button button-primary" onClick={() => ask(compareRanks)}>
          Compare the ranks
        </button>
      ) : (
        <>
          <p>On a command line, in the log directory:</p>
          <Snippet
            what="the command that compares the ranks"
            text={offer.has_sources ? `dlprof import "${offer.run}" --job` : `dlprof job "${offer.run}"`}
          />
        </>
      )}
      {error !== null && <ErrorBox error={error} />}
    </Message>
  );
}
