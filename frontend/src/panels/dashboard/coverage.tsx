import type { DashboardResponse } from "../../api/types";
import { Icon } from "../../components/icon";
import { Panel } from "../../components/panel";
import { Sentence } from "../../components/sentence";
import { recordedSentence } from "../../model/recorded";

/** What the recording could not tell, so that nobody takes a gap for a zero. */
export function Coverage({ data }: { data: DashboardResponse }) {
  const { notes } = data.coverage;
  const held = recordedSentence(data.recorded ?? []);
  return (
    <Panel title="What This Recording Holds">
      <ul class="notes" id="coverage" tabIndex={-1}>
        {held !== "" && (
          <li class="note">
            <Icon name="check" />
            <span>{held}</span>
          </li>
        )}
        {notes.length === 0 && (
          <li class="note">
            <Icon name={data.recorded === null ? "info" : "check"} />
            <span>
              {data.recorded === null
                ? "DLProf does not store what it skipped or missed."
                : "Nothing was skipped, and no gap in the recording was found."}
            </span>
          </li>
        )}
        {notes.map(({ severity, message, hint }) => (
          <li class={`note note-${severity}`} key={message}>
            <Icon name={severity === "info" ? "info" : "warning"} />
            <span>
              {severity !== "info" && <span class="visually-hidden">{severity}: </span>}
              <Sentence text={message} />{" "}
              {hint !== "" && (
                <span class="muted">
                  <Sentence text={hint} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
