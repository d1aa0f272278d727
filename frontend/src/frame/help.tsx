import { ExternalLink } from "../components/external_link";

const TERMS: readonly [string, string][] = [
  ["Aggregation", "The iterations whose numbers are added up: from a start to a stop iteration."],
  ["Iteration", "One training step: a profiler step, an NVTX range, or one call of the key node."],
  ["Key node", "The op that occurs once in every iteration and so separates one from the next."],
  ["Op", "A node of the model: a call that the framework or your code marked, with the kernels it launched."],
  ["unassociated_…", "GPU work that no op is known to have launched, by kernel name."],
  ["Eligible", "An op that could use Tensor Cores (AMD: Matrix Cores) by its type and data types."],
  ["Using", "At least one kernel of the op uses them."],
  ["fprop, bprop", "Forward and backward pass."],
  ["GPU utilization", "Share of the wall clock time in which at least one kernel was running; overlaps count once."],
  ["GPU time of an op", "Time in which kernels, copies or sets of the op were running."],
];

const KEYS: readonly [string, string][] = [
  ["Arrow keys", "walk over the cells of a table, or the bars of a chart"],
  ["Enter, Space", "select a row"],
  ["Ctrl C", "copy the cell"],
  ["Page Up, Page Down", "turn the pages of a table"],
  ["Esc", "close a menu or this pane"],
];

export function Help({ version }: { version: string }) {
  return (
    <div class="help">
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
      {version !== "" && <p class="muted">tensorboard-plugin-dlprof {version}</p>}
    </div>
  );
}
