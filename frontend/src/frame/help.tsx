import { ExternalLink } from "../components/external_link";
import { PAGES } from "./pages";

const PROJECT = "https://pypi.org/project/tensorboard-plugin-dlprof/";

const TERMS: readonly [string, string][] = [
  ["Aggregation", "The iterations whose numbers are added up: from a start to a stop iteration."],
  [
    "Iteration",
    "One training step: a profiler step, an NVTX range, a run of a compiled function, or one call of the key node.",
  ],
  [
    "Re-aggregation",
    "Summing up another range of iterations, or iterations found in another way; the result becomes a new entry in the menu.",
  ],
  ["Domain", "An NVTX domain: libraries and your code may each mark ranges in one of their own."],
  ["Key node", "The op that occurs once in every iteration and so separates one from the next."],
  ["Op", "A node of the model: a call that the framework or your code marked, with the kernels it launched."],
  ["unassociated_…", "GPU work that no op is known to have launched, by kernel name."],
  ["Eligible", "An op that could use Tensor Cores (AMD: Matrix Cores), judging by its type and data types."],
  ["Using", "At least one kernel of the op uses them."],
  ["fprop, bprop", "Forward and backward pass."],
  ["GPU utilization", "Share of the wall clock time in which at least one kernel was running; overlaps count once."],
  ["CPU overhead", "CPU time of a call without the time in calls of the CUDA API."],
  ["GPU idle", "Time between the first and the last work of a call on the GPU in which none of it was running."],
  ["GPU time of an op", "Time in which kernels, copies or sets of the op were running."],
];

const KEYS: readonly [string, string][] = [
  ["Arrow keys", "walk over the cells of a table, the bars of a chart, the pages, or the entries of a menu or choice"],
  ["Enter", "select a row; open the iteration of a bar of the Dashboard"],
  ["Ctrl C", "copy the cell"],
  ["Page Up, Page Down", "turn the pages of a table; move a boundary of the iterations by 10"],
  ["Left, Right", "close and open a row of the tree"],
  ["+, -, 0", "zoom in, out, and back in charts and the graph"],
  ["Shift, arrow keys", "move the visible part of the iterations"],
  ["Esc", "close a menu or this pane; undo the selection of a row"],
];

export function Help({ version }: { version: string }) {
  return (
    <div class="help">
      <h3>Guide</h3>
      <dl>
        {PAGES.map(({ id, label, about, holds }) => (
          <div key={id}>
            <dt>{label}</dt>
            <dd>
              {about} {holds.length > 0 && <span class="muted">DLProf: {holds.join(", ")}.</span>}
            </dd>
          </div>
        ))}
      </dl>
      <h3>Terms</h3>
      <dl>
        {TERMS.map(([term, meaning]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <h3>Keys</h3>
      <dl>
        {KEYS.map(([key, action]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
      <h3>Filters</h3>
      <p>
        Numbers: <code>&gt;1000</code>, <code>&lt;=20</code>, <code>10..50</code>. Times take a unit:{" "}
        <code>&gt;1ms</code>, <code>10us..50us</code>. Shares: <code>&gt;10%</code>. Texts: any part of them.
      </p>
      <h3>Further reading</h3>
      <ul>
        <li>
          <ExternalLink href="https://docs.nvidia.com/deeplearning/frameworks/dlprof-viewer-user-guide/index.html">
            DLProf Viewer user guide
          </ExternalLink>
        </li>
        <li>
          <ExternalLink href="https://pytorch.org/tutorials/recipes/recipes/profiler_recipe.html">
            PyTorch profiler
          </ExternalLink>
        </li>
        <li>
          <ExternalLink href="https://docs.nvidia.com/nsight-systems/UserGuide/index.html">Nsight Systems</ExternalLink>
        </li>
      </ul>
      <h3>Contact</h3>
      <p>
        Questions, faults and wishes: the project's page, which <ExternalLink href={PROJECT}>PyPI</ExternalLink> links
        to. Say what <code>dlprof doctor</code> prints; it holds no names of yours.
      </p>
      {version !== "" && <p class="muted">tensorboard-plugin-dlprof {version}</p>}
    </div>
  );
}
