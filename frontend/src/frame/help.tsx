import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";

import { ExternalLink } from "../components/external_link";
import { Terms } from "../components/properties";
import { ViewLink } from "../components/view_link";
import { useOneStop } from "../components/walking";
import { CATEGORIES } from "../model/memory_categories";
import { partKinds } from "../model/parts";
import { PARTS } from "../model/ranks";
import { REST } from "../model/step";
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

/** Headings that are jumped to. */
const JUMPS = {
  page: "This page",
  parts: "Parts of an iteration",
  memory: "What memory holds",
  guide: "Guide",
  views: "DLProf's views",
  terms: "Terms",
  keyboard: "Keyboard",
  filters: "Filters",
  reading: "Further reading",
} as const;

type Jump = keyof typeof JUMPS;

/** What belongs to a page, and is not folded beside it. */
const OF_PAGE: Readonly<Record<string, Jump>> = {
  dashboard: "parts",
  iterations: "parts",
  timeline: "parts",
  gpus: "parts",
  memory: "memory",
};

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
          onClick={() => {
            const section = to.current?.querySelector(`[data-jump=${key}]`);
            if (section instanceof HTMLDetailsElement) section.open = true;
            section?.scrollIntoView();
          }}
        >
          {label}
        </button>
      ))}
    </nav>
  );
}

interface SectionProps {
  jump: Jump;
  /** The section that belongs to the page that is open. */
  open: Jump | undefined;
  children: ComponentChildren;
}

/** What belongs to the page stands open, all else is folded. */
function Section({ jump, open, children }: SectionProps) {
  const heading = <h3>{JUMPS[jump]}</h3>;
  return jump === open ? (
    <section data-jump={jump}>
      {heading}
      {children}
    </section>
  ) : (
    <details data-jump={jump}>
      <summary>{heading}</summary>
      {children}
    </details>
  );
}

/** A page, as a link to it. */
const ToPage = ({ id }: { id: string }) => (
  <ViewLink class="link-button" to={toPage(id)}>
    {PAGES.find((page) => page.id === id)?.label}
  </ViewLink>
);

interface Entry {
  label: string;
  colour: string;
  about: string;
}

/** What bars of time consist of, in the words of their legends: of one GPU, and where a job tells communication apart. */
const TIMES: readonly Entry[] = [
  ...partKinds("Tensor Core"),
  { ...REST, about: "Parts that are too short to be seen in the bar, together." },
  ...PARTS.map((part) => ({ ...part, colour: `var(--rank-${part.key})` })),
];

const MEMORY: readonly Entry[] = Object.entries(CATEGORIES).map(([label, [colour, about]]) => ({
  label,
  colour,
  about,
}));

const Legend = ({ entries }: { entries: readonly Entry[] }) => (
  <dl>
    {entries.map(({ label, colour, about }) => (
      <div key={label}>
        <dt class="help-part">
          <span class="swatch" style={{ background: colour }} /> {label}
        </dt>
        <dd>{about}</dd>
      </div>
    ))}
  </dl>
);

function TimeLegend({ open }: { open: Jump | undefined }) {
  return (
    <Section jump="parts" open={open}>
      <p>What bars of time consist of: what the GPU did at each moment, or why it was idle.</p>
      <Legend entries={TIMES} />
    </Section>
  );
}

function MemoryLegend({ open }: { open: Jump | undefined }) {
  return (
    <Section jump="memory" open={open}>
      <p>By the phases in which it was allocated and freed.</p>
      <Legend entries={MEMORY} />
    </Section>
  );
}

/** What is said of the page that is open comes first, with the legend of its pictures. */
export function Help({ version }: { version: string }) {
  const pane = useRef<HTMLDivElement>(null);
  const { view = "dashboard" } = useUrl();
  const page = PAGES.find(({ id }) => id === view) ?? PAGES[0];
  const open = OF_PAGE[page?.id ?? ""];
  return (
    <div class="help" ref={pane}>
      <Jumps to={pane} />
      <Section jump="page" open="page">
        <p>
          <strong>{page?.label}:</strong> {ABOUT[page?.id ?? ""]}
        </p>
      </Section>
      {open === "memory" ? <MemoryLegend open={open} /> : <TimeLegend open={open} />}
      {open === "memory" ? <TimeLegend open={open} /> : <MemoryLegend open={open} />}
      <Section jump="guide" open={open}>
        <Terms
          rows={PAGES.filter(({ id }) => id !== page?.id).map(({ id }) => [<ToPage key={id} id={id} />, ABOUT[id]])}
        />
      </Section>
      <Section jump="views" open={open}>
        <p>Where the views of DLProf's guide are found here.</p>
        <Terms rows={VIEWS.map(([name, id]) => [name, <ToPage key={id} id={id} />])} />
      </Section>
      <Section jump="terms" open={open}>
        <Terms rows={TERMS} />
      </Section>
      <Section jump="keyboard" open={open}>
        <Terms rows={KEYS.map(([key, action]) => [<kbd key={key}>{key}</kbd>, action])} />
      </Section>
      <Section jump="filters" open={open}>
        <p>
          Numbers: <code>&gt;1000</code>, <code>&lt;=20</code>, <code>10..50</code>. Times take a unit:{" "}
          <code>&gt;1ms</code>, <code>10us..50us</code>. Shares: <code>&gt;10%</code>. Texts: any part of them.
        </p>
      </Section>
      <Section jump="reading" open={open}>
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
            <ExternalLink href="https://docs.nvidia.com/nsight-systems/UserGuide/index.html">
              Nsight Systems
            </ExternalLink>
          </li>
        </ul>
      </Section>
      <h3>Contact</h3>
      <p>
        Questions, faults and wishes: the project's page, which <ExternalLink href={PROJECT}>PyPI</ExternalLink> links
        to. Say what <code>dlprof doctor</code> prints; it holds no names of yours.
      </p>
      {version !== "" && <p class="muted">tensorboard-plugin-dlprof {version}</p>}
    </div>
  );
}
