import type { DashboardResponse } from "../../api/types";
import { formatCounted } from "../../format/number";
import { Icon } from "../../components/icon";
import { hasKernels, matrixSentence, modelLine, utilizationSentence } from "../../model/headline";
import { colourOf } from "../../model/resources";

/** The first thing to read: what the GPU did, in a sentence or two, and the size of the model. */
export function HeadlineBand({ data }: { data: DashboardResponse }) {
  const phrases = [...utilizationSentence(data), { text: " " }, ...matrixSentence(data)];
  const serious = data.coverage.notes.filter(({ severity }) => severity !== "info").length;
  return (
    <header class="headline span-all">
      <h1>
        {phrases.map((phrase, i) =>
          phrase.strong === true ? (
            <strong
              key={i}
              class="headline-number"
              style={phrase.resource ? { borderColor: colourOf(phrase.resource) } : {}}
            >
              {phrase.text}
            </strong>
          ) : (
            phrase.text
          ),
        )}
      </h1>
      <p class="model-line">
        {modelLine(data)}
        {!hasKernels(data) && (
          <span>
            To see kernels, record with <code>ProfilerActivity.CUDA</code> (PyTorch) or <code>-t cuda,nvtx</code>{" "}
            (Nsight Systems).
          </span>
        )}
        {serious > 0 && (
          <button
            type="button"
            class="badge badge-warning"
            onClick={() => document.getElementById("coverage")?.scrollIntoView({ behavior: "smooth", block: "center" })}
          >
            <Icon name="warning" /> {formatCounted(serious, "limit")} of this recording
          </button>
        )}
      </p>
    </header>
  );
}
