import type { ComponentChildren } from "preact";

import { ExternalLink } from "../components/external_link";
import { Terms } from "../components/properties";
import { ViewLink } from "../components/view_link";
import { CONFIDENCE } from "../model/findings";
import { CATEGORIES } from "../model/memory_categories";
import { partKinds } from "../model/parts";
import { EXPOSED } from "../model/ranks";
import { REST } from "../model/step";
import type { Changes } from "../model/url_state";
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

/** How a page is read, and what clicks do. */
const USE: Readonly<Record<string, readonly [read: string, click: string]>> = {
  dashboard: [
    "Read from the top: the sentence, the bar of a mean iteration that it is about, what to change first. DLProf's panels below add up all iterations that count.",
    "Click a part of the bar, a group or an iteration to open it on its page; an entry of a ring’s legend hides its slice.",
  ],
  recommendations: [
    "What gains most for sure comes first. A bar is as long as an iteration: its dark part is gained at least, its pale one at most.",
    "Click a time to see the moment in the Timeline; the last line of a card shows how the gain is known.",
  ],
  modules: [
    "A box is as large as its share of the time.",
    "Click a box or a row to see its ops and what it could gain.",
  ],
  ops: ["Each row is a group or an op, the longest first.", "Click a row to see what it launched, a head to sort."],
  efficiency: [
    "A dot of the roofline is an op: the farther below the roof, the more it could gain.",
    "Click a dot or a row to see the op.",
  ],
  iterations: [
    "Each bar is an iteration; means leave out the pale ones.",
    "Click a bar to see what the iteration launched; the handles choose which are counted.",
  ],
  timeline: ["Time goes to the right; a track tells why the GPU was idle.", "Click what is drawn for its details."],
  memory: ["The curve is what was held at each moment.", "Click a moment to see what was held then."],
  gpus: [
    "A bar is a GPU or rank, divided as that of the Dashboard. Cost is how long others wait for a rank, waiting how long it waits for others.",
    "Click the name of a rank to open its profile, a cell of the heat map to see its iteration.",
  ],
  compare: [
    "Changes are from the baseline A to this profile B; what may be noise is said to be.",
    "Click a row to see both sides.",
  ],
};

/** The views of DLProf's guide, the pages that they are on, and what is chosen there. */
const VIEWS: readonly [view: string, page: string, chosen?: Changes][] = [
  ["Dashboard", "dashboard"],
  ["Recommendations", "recommendations"],
  ["Op Type Summary", "ops", { "ops.by": "type" }],
  ["Group Ops Summary", "modules"],
  ["Ops and Kernels", "ops", { "ops.by": "none" }],
  ["Kernels by Iteration", "iterations", { "iters.by": "kernel" }],
  ["Kernels by Op", "iterations", { "iters.by": "op" }],
  ["Iterations View", "iterations"],
  ["GPUs View", "gpus"],
  ["Graphs", "modules", { "groups.as": "graph" }],
];

/** Terms, what they mean, and the pages where they stand first. */
const TERMS: readonly [term: string, meaning: string, ...pages: string[]][] = [
  [
    "Aggregation",
    "The iterations whose numbers are added up: from a start to a stop iteration. Pages tell means of one of them; a click on “per iteration” beside a title, as on Ops, shows the sums instead.",
    "dashboard",
    "iterations",
  ],
  [
    "Iteration",
    "One training step: a profiler step, an NVTX range, a run of a compiled function, or one call of the key node.",
    "dashboard",
    "iterations",
  ],
  [
    "Re-aggregation",
    "Summing up another range of iterations, or iterations found in another way; the result becomes a new entry in the menu.",
    "iterations",
  ],
  ["Domain", "An NVTX domain: libraries and your code may each mark ranges in one of their own."],
  ["Key node", "The op that occurs once in every iteration and so separates one from the next.", "iterations"],
  [
    "Op",
    "A node of the model: a call that the framework or your code marked, with the kernels it launched.",
    "modules",
    "ops",
    "efficiency",
  ],
  [
    "no op:",
    "GPU work that no op is known to have launched, by kernel name (Modules: Not in any op); in DLProf's tables and exports unassociated_…",
    "modules",
    "ops",
  ],
  [
    "Eligible",
    "An op that could use Tensor Cores (AMD: Matrix Cores), judging by its type and data types.",
    "modules",
    "ops",
  ],
  ["Using", "At least one kernel of the op uses them.", "modules", "ops"],
  ["Forward, backward", "The pass of the network that an op belongs to; DLProf: fprop, bprop.", "ops"],
  [
    "GPU utilization",
    "Share of the wall clock time in which at least one kernel was running; overlaps count once.",
    "dashboard",
    "gpus",
  ],
  ["CPU overhead", "CPU time of a call without the time in calls of the CUDA API.", "ops"],
  ["GPU idle", "Time between the first and the last work of a call on the GPU in which none of it was running.", "ops"],
  [
    "Could gain",
    "How much less time it may take: of a recommendation an iteration, of an op its kernels, at the GPU's published rates.",
    "recommendations",
    "modules",
    "ops",
    "efficiency",
  ],
  [
    "Bound by",
    "What limits kernels: compute (the rate of the arithmetic), memory (its bandwidth), latency (too little work to use either).",
    "modules",
    "ops",
    "efficiency",
  ],
  ["Confidence", CONFIDENCE, "recommendations"],
  [
    "Hidden, exposed",
    "Communication or copies beside which kernels compute, and those beside which none does.",
    "dashboard",
    "gpus",
    "timeline",
  ],
  ["GPU time of an op", "Time in which kernels, copies or memsets of the op were running.", "modules", "ops"],
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

/** Headings. */
const HEADINGS = {
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

type Part = keyof typeof HEADINGS;

/** What belongs to a page, and is not folded beside it. */
const OF_PAGE: Readonly<Record<string, Part>> = {
  dashboard: "parts",
  iterations: "parts",
  timeline: "parts",
  gpus: "parts",
  memory: "memory",
};

interface SectionProps {
  part: Part;
  /** The section that belongs to the page that is open. */
  open: Part | undefined;
  children: ComponentChildren;
}

/** What belongs to the page stands open, all else is folded. */
function Section({ part, open, children }: SectionProps) {
  const heading = <h3>{HEADINGS[part]}</h3>;
  return part === open ? (
    <section>
      {heading}
      {children}
    </section>
  ) : (
    <details>
      <summary>{heading}</summary>
      {children}
    </details>
  );
}

/** A page, as a link to it. */
const ToPage = ({ id, chosen = {} }: { id: string; chosen?: Changes | undefined }) => (
  <ViewLink class="link-button" to={{ ...chosen, ...toPage(id) }}>
    {PAGES.find((page) => page.id === id)?.label}
  </ViewLink>
);

interface Entry {
  label: string;
  colour: string;
  about: string;
}

/** What bars of time consist of, in the words of their legends; `EXPOSED` where a job tells communication apart. */
const TIMES: readonly Entry[] = [
  ...partKinds("Tensor Core"),
  { ...REST, about: "Parts that are too short to be seen in the bar, together." },
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

function TimeLegend({ open }: { open: Part | undefined }) {
  return (
    <Section part="parts" open={open}>
      <p>What bars of time consist of: what the GPU did at each moment, or why it was idle.</p>
      <Legend entries={TIMES} />
      <h4>Communication, exposed, in a job of several ranks</h4>
      <Legend entries={EXPOSED} />
    </Section>
  );
}

function MemoryLegend({ open }: { open: Part | undefined }) {
  return (
    <Section part="memory" open={open}>
      <p>By the phases in which it was allocated and freed.</p>
      <Legend entries={MEMORY} />
    </Section>
  );
}

/** What is said of the page that is open comes first, with the legend of its pictures. */
export function Help({ version }: { version: string }) {
  const { view = "dashboard" } = useUrl();
  const page = PAGES.find(({ id }) => id === view) ?? PAGES[0];
  const open = OF_PAGE[page?.id ?? ""];
  const isHere = ([, , ...pages]: (typeof TERMS)[number]): boolean => pages.includes(page?.id ?? "");
  return (
    <div class="help">
      <Section part="page" open="page">
        <p>
          <strong>{page?.label}:</strong> {ABOUT[page?.id ?? ""]}
        </p>
        {(USE[page?.id ?? ""] ?? []).map((line) => (
          <p key={line}>{line}</p>
        ))}
        {TERMS.some(isHere) && <Terms rows={TERMS.filter(isHere).map(([term, meaning]) => [term, meaning])} />}
        <p>Tab goes from panel to panel, arrow keys walk in one, Enter opens; see Keyboard.</p>
      </Section>
      {open === "memory" ? <MemoryLegend open={open} /> : <TimeLegend open={open} />}
      {open === "memory" ? <TimeLegend open={open} /> : <MemoryLegend open={open} />}
      <Section part="guide" open={open}>
        <Terms
          rows={PAGES.filter(({ id }) => id !== page?.id).map(({ id }) => [<ToPage key={id} id={id} />, ABOUT[id]])}
        />
      </Section>
      <Section part="views" open={open}>
        <p>Where the views of DLProf's guide are found here.</p>
        <Terms rows={VIEWS.map(([name, id, chosen]) => [name, <ToPage key={name} id={id} chosen={chosen} />])} />
      </Section>
      <Section part="terms" open={open}>
        <Terms rows={TERMS.filter((each) => !isHere(each)).map(([term, meaning]) => [term, meaning])} />
      </Section>
      <Section part="keyboard" open={open}>
        <Terms rows={KEYS.map(([key, action]) => [<kbd key={key}>{key}</kbd>, action])} />
      </Section>
      <Section part="filters" open={open}>
        <p>
          Numbers: <code>&gt;1000</code>, <code>&lt;=20</code>, <code>10..50</code>. Times take a unit:{" "}
          <code>&gt;1ms</code>, <code>10us..50us</code>. Shares: <code>&gt;10%</code>. Texts: any part of them.
        </p>
      </Section>
      <Section part="reading" open={open}>
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
