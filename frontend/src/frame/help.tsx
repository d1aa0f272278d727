import type { RefObject } from "preact";
import { useRef } from "preact/hooks";

import { ExternalLink } from "../components/external_link";
import { ViewLink } from "../components/view_link";
import { useOneStop } from "../components/walking";
import { partKinds } from "../model/parts";
import { PAGES, toPage } from "./pages";
import { useUrl } from "./url";

const PROJECT = "https://pypi.org/project/tensorboard-plugin-dlprof/";

/** What each page answers. */
const ABOUT: Readonly<Record<string, string>> = {
  dashboard: "Why an iteration takes as long as it does, and what to change first.",
  recommendations: "What to change, how much shorter an iteration could become, and what shows it.",
  modules: "Which module takes the time and could gain most: as icicle, treemap, tree or graph.",
  ops: "Where GPU time goes by path, op, type or kernel, or op by op; what the selected op launched.",
  efficiency: "How close each op comes to what the GPU can do, what limits it, and what it could gain.",
  iterations: "How long each iteration took and why, which are aggregated, and what the selected one launched.",
  timeline: "What ran when on the GPU and the host, and why the GPU waited, gap by gap.",
  memory: "What holds the GPU's memory at its peak or at any moment, by category and op, and whether it leaks.",
  gpus: "How each GPU spent its time; in a job of many, which rank costs the others time, and why.",
  compare: "What changed from a baseline to this profile, where, and whether it is more than noise.",
};

/** The views of DLProf's guide, and the pages that they are on. */
const VIEWS: readonly [view: string, page: string][] = [
  ["Dashboard", "dashboard"],
  ["Recommendations", "recommendations"],
  ["Op Type Summary", "ops"],
  ["Group Ops", "modules"],
  ["Ops and Kernels", "ops"],
  ["Kernels by Iteration", "iterations"],
  ["Kernels by Op", "iterations"],
  ["Iterations View", "iterations"],
  ["GPUs", "gpus"],
  ["Graphs", "modules"],
];

const TERMS: readonly [string, string][] = [
  [
    "Aggregation",
    "The iterations whose numbers are added up: from a start to a stop iteration. Pages tell means of one of them; a click on what stands beside a title shows the sums instead.",
  ],
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
  [
    "no op:",
    "GPU work that no op is known to have launched, by kernel name (Modules: Not in any op); in DLProf's tables and exports unassociated_…",
  ],
  ["Eligible", "An op that could use Tensor Cores (AMD: Matrix Cores), judging by its type and data types."],
  ["Using", "At least one kernel of the op uses them."],
  ["Forward, backward", "The pass of the network that an op belongs to; DLProf: fprop, bprop."],
  ["GPU utilization", "Share of the wall clock time in which at least one kernel was running; overlaps count once."],
  ["CPU overhead", "CPU time of a call without the time in calls of the CUDA API."],
  ["GPU idle", "Time between the first and the last work of a call on the GPU in which none of it was running."],
  ["GPU time of an op", "Time in which kernels, copies or memsets of the op were running."],
];

const KEYS: readonly [string, string][] = [
  [
    "Tab",
    "goes to the next row of buttons, field, chart or table; its first stop skips to the page and, with the arrow keys, to each of its tables",
  ],
  [
    "Arrow keys",
    "walk over the buttons and links of a row or panel, the cells of a table and up to its head, the bars of a chart, or the entries of a menu",
  ],
  ["Enter", "select a row; open the iteration of a bar of the Dashboard"],
  ["Ctrl C", "copy the cell"],
  ["Page Up, Page Down", "turn the pages of a table; move a boundary of the iterations by 10"],
  ["Left, Right", "close and open a row of the tree"],
  ["+, -, 0", "zoom in, out, and back in charts and the graph"],
  ["Shift, arrow keys", "move the visible part of the iterations"],
  ["Esc", "close a menu or this pane; undo the selection of a row"],
];

/** Headings that are jumped to: most of them are screens below the top. */
const JUMPS = {
  page: "This page",
  guide: "Guide",
  views: "DLProf's views",
  terms: "Terms",
  parts: "Parts of an iteration",
  keyboard: "Keyboard",
  filters: "Filters",
  reading: "Further reading",
} as const;

/** Not by a link: the address holds what the page shows. */
function Jumps({ to }: { to: RefObject<HTMLDivElement> }) {
  const row = useOneStop<HTMLElement>();
  return (
    <nav class="help-jumps" aria-label="In this help" {...row}>
      {Object.entries(JUMPS).map(([key, label]) => (
        <button
          key={key}
          type="button"
          class="link-button"
          onClick={() => to.current?.querySelector(`[data-jump=${key}]`)?.scrollIntoView()}
        >
          {label}
        </button>
      ))}
    </nav>
  );
}

const Heading = ({ jump }: { jump: keyof typeof JUMPS }) => <h3 data-jump={jump}>{JUMPS[jump]}</h3>;

/** A page, as a link to it. */
const ToPage = ({ id }: { id: string }) => (
  <ViewLink class="link-button" to={toPage(id)}>
    {PAGES.find((page) => page.id === id)?.label}
  </ViewLink>
);

function Parts() {
  return (
    <>
      <Heading jump="parts" />
      <p>What the bar of the Dashboard consists of: what the GPU did at each moment, or why it was idle.</p>
      <dl>
        {partKinds("Tensor Core").map(({ key, label, colour, about }) => (
          <div key={key}>
            <dt class="help-part">
              <span class="swatch" style={{ background: colour }} /> {label}
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** What is said of the page that is open comes first; of the Dashboard, that is also what its bar consists of. */
export function Help({ version }: { version: string }) {
  const pane = useRef<HTMLDivElement>(null);
  const { view = "dashboard" } = useUrl();
  const page = PAGES.find(({ id }) => id === view) ?? PAGES[0];
  const isDashboard = page?.id === "dashboard";
  return (
    <div class="help" ref={pane}>
      <Jumps to={pane} />
      <Heading jump="page" />
      <p>
        <strong>{page?.label}:</strong> {ABOUT[page?.id ?? ""]}
      </p>
      {isDashboard && <Parts />}
      <Heading jump="guide" />
      <dl>
        {PAGES.map(({ id }) => (
          <div key={id}>
            <dt>
              <ToPage id={id} />
            </dt>
            <dd>{ABOUT[id]}</dd>
          </div>
        ))}
      </dl>
      <Heading jump="views" />
      <p>Where the views of DLProf's guide are found here.</p>
      <dl>
        {VIEWS.map(([name, id]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <ToPage id={id} />
            </dd>
          </div>
        ))}
      </dl>
      <Heading jump="terms" />
      <dl>
        {TERMS.map(([term, meaning]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      {!isDashboard && <Parts />}
      <Heading jump="keyboard" />
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
      <Heading jump="filters" />
      <p>
        Numbers: <code>&gt;1000</code>, <code>&lt;=20</code>, <code>10..50</code>. Times take a unit:{" "}
        <code>&gt;1ms</code>, <code>10us..50us</code>. Shares: <code>&gt;10%</code>. Texts: any part of them.
      </p>
      <Heading jump="reading" />
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
