/** Perfetto, where the server allows it, and the same window as a file. */
import { useState } from "preact/hooks";

import { traceUrl } from "../../api/client";
import { useScope } from "../../frame/scope";
import type { View } from "../../model/timeline_link";
import { openInPerfetto } from "./perfetto";

export function HandOver({ profile, view, title }: { profile: string; view: View; title: string }) {
  const { perfetto } = useScope();
  const [failed, setFailed] = useState("");
  return (
    <>
      <a class="button" href={traceUrl(profile, view)} download="trace.json" data-tip="This window as a trace">
        Download
      </a>
      {perfetto !== null && (
        <button
          type="button"
          class="button"
          data-tip={`This window; opens ${new URL(perfetto, window.location.href).host}. The trace is handed over inside your browser and not uploaded.`}
          onClick={() => {
            setFailed("");
            openInPerfetto(perfetto, profile, view, title).catch((error: unknown) =>
              setFailed(error instanceof Error ? error.message : String(error)),
            );
          }}
        >
          Open in Perfetto
        </button>
      )}
      {failed !== "" && (
        <span class="muted" role="alert">
          {failed}
        </span>
      )}
    </>
  );
}
