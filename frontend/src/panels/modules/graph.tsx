/** The module graph: which parts of the model use Tensor Cores, could but do not, or could not. */
import type { ComponentChildren } from "preact";
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { PictureMenu } from "../../components/charts/picture_menu";
import { Icon } from "../../components/icon";
import { ErrorBox, Loading } from "../../components/message";
import { SumNote } from "../../components/sum_note";
import { ExportMenu } from "../../components/table/export_menu";
import { TreeTools, WholeModel } from "../../components/tree/tree_tools";
import { useGroupTree, type GroupTree } from "../../components/tree/use_group_tree";
import { useWidth } from "../../components/use_width";
import { useScope } from "../../frame/scope";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { chainOf, communicates, nothingShown, SMALL, type Measure } from "../../model/tree_values";
import { shownPath, type TreeRow } from "../../model/tree_row";
import {
  centred,
  fitted,
  heightFor,
  GAP_BELOW,
  graphNeighbour,
  inView,
  isWhole,
  layOut,
  LEGIBLE,
  NODE,
  scaled,
  SMALLEST,
  whole,
  type Graph as GraphLayout,
  type GraphNode,
  type Place,
} from "../../model/graph_layout";
import { shareOf } from "../../format/share";
import { shortUnit } from "../../model/resources";
import { NodeBox, NodePatterns, nodeWidth, RestBox } from "./node_box";
import { NodePane } from "./node_pane";
import { usePlace } from "./use_place";
import { WasteNote } from "./waste_note";
import { useOneStop } from "../../components/walking";

/** Boxes below one another that can be read at once, and levels: with more, the first view would not hold all of it. */
const SCREEN = { lines: 10, levels: 5, perRow: false, least: 0.05 };

const ALL_GROUPS = { table: "groups", sort: "", search: "", where: {}, links: {} };

/** With the choice of another view of the tree in its head. */
export function Graph({ choice }: { choice: ComponentChildren }) {
  const scope = useScope();
  const { matrixUnit, onGpu } = scope;
  const tools = useOneStop<HTMLElement>();
  const { tree, query } = useGroupTree("groups", SCREEN);
  // The sentence waits for the findings, and all else for the sentence: nothing moves once it is read.
  const diagnosis = useDiagnosis();
  if (tree === null || (diagnosis.loading && diagnosis.data === null))
    return query.error === null ? <Loading what="the graph" /> : <ErrorBox error={query.error} retry={query.reload} />;
  const { nodes } = tree.rows.tree;
  return (
    <div class="stacked">
      <WasteNote tree={tree} matrixUnit={matrixUnit} diagnosis={diagnosis.data} />
      <section class="panel graph-panel" aria-label="Compatibility Graph">
        <header class="table-tools of-tree" {...tools}>
          <h2>Compatibility Graph</h2>
          {choice}
          <TreeTools tree={tree} />
          <ExportMenu
            asked={{ ...scope, ...ALL_GROUPS }}
            columns={null}
            title="All Groups"
            filtered={tree.filter.trim() === "" && tree.root === "" ? "All groups" : "All groups, not only those shown"}
          />
          <PictureMenu title="Compatibility Graph" />
        </header>
        <div class="graph-and-pane">
          <div class="graph-main">
            {tree.rows.roots.length === 0 ? (
              <p class="nothing">{nothingShown(tree.filter)}</p>
            ) : (
              <Drawing tree={tree} matrixUnit={matrixUnit} onGpu={onGpu} />
            )}
            <Legend
              tree={tree}
              matrixUnit={matrixUnit}
              onGpu={onGpu}
              unknown={[nodes.eligible_ops, ...(onGpu ? [nodes.using_ops] : [])].some((of) => of.includes(null))}
              communicating={communicates(tree.rows.tree)}
            />
          </div>
          {tree.selected !== null && (
            <NodePane row={tree.selected} tree={tree} withKernels onClose={() => tree.change({ row: null })} />
          )}
        </div>
      </section>
    </div>
  );
}

interface LegendProps {
  tree: GroupTree;
  matrixUnit: string;
  onGpu: boolean;
  /** Whether there are nodes of which it is not known. */
  unknown: boolean;
  communicating: boolean;
}

function Legend({ tree, matrixUnit, onGpu, unknown, communicating }: LegendProps) {
  return (
    <ul class="graph-legend" aria-label="What the nodes' edges mean">
      {tree.root !== "" && (
        <li>
          <WholeModel tree={tree} />
        </li>
      )}
      {(
        [
          ...(onGpu
            ? ([
                ["using shade-mid", `to 50 % of kernel time on ${matrixUnit}s`],
                ["using shade-high", "over 50 %"],
              ] as const)
            : []),
          onGpu
            ? (["not_using", "eligible, none uses them"] as const)
            : (["eligible", `eligible for ${matrixUnit}s, no kernels were recorded`] as const),
          ["not_eligible", "not eligible"],
          ...(unknown ? ([["not_known", "not known"]] as const) : []),
          ...(communicating ? ([["communication", "communication"]] as const) : []),
        ] as const
      ).map(([kind, text]) => (
        <li key={kind}>
          <svg width="16" height="16" aria-hidden="true">
            <rect class={`node-mark ${kind}`} width="16" height="16" rx="3" />
          </svg>
          {text}
        </li>
      ))}
      <li class="muted">
        Filled: share of the {onGpu ? "GPU" : "CPU"} time <SumNote />
      </li>
    </ul>
  );
}

const LEAST_HEIGHT = 320;
/** Of the panel and of the drawing. */
const EDGES = 3;
/** Between the sentences and the panel. */
const GAP = 16;

/** What the page leaves for the drawing below its head and above its legend. */
function heightLeft(drawing: HTMLElement): number {
  const main = drawing.closest(".frame-main");
  if (main === null) return LEAST_HEIGHT;
  const { paddingTop, paddingBottom } = getComputedStyle(main);
  // The sentences above the panel, and in it the tools and the legend.
  const siblings = [".stacked", ".graph-panel", ".graph-main"]
    .flatMap((around) => [...(drawing.closest(around)?.children ?? [])])
    .filter((each) => !each.contains(drawing))
    .reduce((sum, each) => sum + each.getBoundingClientRect().height, EDGES + GAP);
  const left = main.clientHeight - parseFloat(paddingTop) - parseFloat(paddingBottom) - siblings;
  return Math.max(Math.floor(left), LEAST_HEIGHT);
}

interface DrawingProps {
  tree: GroupTree;
  matrixUnit: string;
  onGpu: boolean;
}

/** From the right of a node to a box, at that height of it. */
function edgeTo(from: GraphNode, to: { x: number; y: number }, height: number): string {
  const x = from.x + from.width;
  const middle = (x + to.x) / 2;
  const y = from.y + NODE.height / 2;
  const end = to.y + height;
  return `M${x} ${y}C${middle} ${y} ${middle} ${end} ${to.x} ${end}`;
}

function Drawing({ tree, matrixUnit, onGpu }: DrawingProps) {
  const [measure, width] = useWidth(900);
  const [most, setMost] = useState(LEAST_HEIGHT);
  const [focus, setFocus] = useState<string | null>(null);
  const grabbed = useRef<{ x: number; y: number; place: Place; moved: boolean } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  // The same function every time: another one would be told of the same element again.
  const hold = useCallback(
    (element: HTMLDivElement | null) => {
      box.current = element;
      measure(element);
    },
    [measure],
  );
  const { rows, isOpen, showsSmall, selected: chosen, level } = tree;
  const core = shortUnit(matrixUnit);
  const by: Measure = onGpu ? "gpu_time_ns" : "cpu_time_ns";
  const time = rows.roots.reduce((sum, row) => sum + row.values[by], 0);
  const graph = useMemo(() => {
    const chain = new Set(chainOf(chosen));
    const isSmall = (row: TreeRow): boolean =>
      row.values[by] < SMALL * time && !chain.has(row) && row.parent !== null && !showsSmall(row.parent);
    const inRoom = (room: number, texts = 1): GraphLayout =>
      layOut(rows, isOpen, isSmall, (row) => texts * nodeWidth(row, core, onGpu), room);
    const graph = inRoom(width - 32);
    // What is small has room for longer names beside each other, as far as the height allows it to be shown whole.
    const smaller = LEGIBLE / whole(graph, Infinity, most).scale;
    if (whole(graph, width, most).scale >= LEGIBLE) return centred(graph);
    return level === null || smaller <= 1 || smaller > LEGIBLE / SMALLEST
      ? graph
      : inRoom((width - 32) * smaller, smaller);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `showsSmall` changes with `isOpen`
  }, [rows, width, core, onGpu, isOpen, chosen, by, time, most]);
  const [moved, show] = usePlace();
  // Only as high as it needs to be, until the user moves something, which must stay in sight.
  const height = moved === null ? heightFor(graph, width, LEAST_HEIGHT, most) : most;
  // What the user opened is shown whole as long as names can be told apart.
  const first = fitted(graph, width, height, level === null ? LEGIBLE : SMALLEST);
  const place = moved ?? first;
  const isAll = isWhole(graph, place, width, height);
  const drawn = inView(graph, place, width, height);
  const chain = new Set(chainOf(tree.selected));
  const focused = graph.nodes.find(({ row }) => row.key === (focus ?? tree.selected?.key)) ?? graph.nodes[0];

  useLayoutEffect(() => {
    const resize = (): void => {
      // A frame that is not shown has no height.
      if (box.current !== null && window.innerHeight > 0) setMost(heightLeft(box.current));
    };
    resize();
    window.addEventListener("resize", resize);
    return () => window.removeEventListener("resize", resize);
  }, [width]);

  const onWheel = useRef<(event: WheelEvent) => void>(() => undefined);
  onWheel.current = (event) => {
    event.preventDefault();
    const { left, top } = box.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    show(scaled(place, Math.exp(-Math.sign(event.deltaY) * 0.18), event.clientX - left, event.clientY - top));
  };
  useLayoutEffect(() => {
    const element = box.current;
    const listener = (event: WheelEvent): void => onWheel.current(event);
    element?.addEventListener("wheel", listener, { passive: false });
    return () => element?.removeEventListener("wheel", listener);
  }, []);

  /** Where the part of the drawing ends over which no pane lies, as it does where there is little room. */
  const uncovered = (): number => {
    const pane = box.current?.closest(".graph-and-pane")?.querySelector(".details-pane")?.getBoundingClientRect().left;
    const left = box.current?.getBoundingClientRect().left ?? 0;
    return pane === undefined || pane - left < NODE.narrowest ? width : pane - left;
  };
  /** Moves the drawing so far that the node can be seen. */
  const bring = (node: GraphNode): void => {
    const left = node.x * place.scale + place.left;
    const top = node.y * place.scale + place.top;
    const right = left + node.width * place.scale;
    const end = uncovered();
    const bottom = top + NODE.height * place.scale;
    const x = left < 8 ? 8 - left : right > end - 8 ? end - 8 - right : 0;
    const y = top < 8 ? 8 - top : bottom > height - 8 ? height - 8 - bottom : 0;
    if (x !== 0 || y !== 0) show({ ...place, left: place.left + x, top: place.top + y });
  };
  // A link keeps its place; what is selected here is brought into sight beside its pane, which takes a part of the width.
  const selected = tree.selected?.key ?? "";
  const linked = useRef(moved === null ? null : selected);
  useLayoutEffect(() => {
    // The pane that has just appeared takes its part of the width before that is measured anew.
    if (Math.abs((box.current?.clientWidth ?? width) - width) > 1) return;
    const node = graph.nodes.find(({ row }) => row.key === selected);
    if (node !== undefined && selected !== linked.current) bring(node);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once for each selection and size, not wherever the user moves it to
  }, [selected, width, height]);
  const toggle = (node: GraphNode): void => tree.toggle(node.row);
  /** However small that is; as at first, where that can be read. */
  const showAll = (): void => show(isWhole(graph, first, width, height) ? null : whole(graph, width, most));
  const zoom = (factor: number): void => show(scaled(place, factor, width / 2, height / 2));
  const onKey = (event: KeyboardEvent): void => {
    if (focused === undefined) return;
    const next = graphNeighbour(graph, focused, event.key);
    if (next !== null) {
      setFocus(next.row.key);
      bring(next);
    } else if (event.key === "ArrowRight" || event.key === " ") {
      if (focused.row.expandable) toggle(focused);
    } else if (event.key === "Enter") {
      setFocus(null);
      tree.select(focused.row);
    } else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") showAll();
    else return;
    event.preventDefault();
  };

  return (
    <div
      class="graph-body"
      ref={hold}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        grabbed.current = { x: event.clientX, y: event.clientY, place, moved: false };
      }}
      onPointerMove={(event) => {
        const held = grabbed.current;
        if (held === null || event.buttons === 0) return;
        const x = event.clientX - held.x;
        const y = event.clientY - held.y;
        if (!held.moved && Math.hypot(x, y) < 4) return;
        if (!held.moved) event.currentTarget.setPointerCapture(event.pointerId);
        held.moved = true;
        show({ ...held.place, left: held.place.left + x, top: held.place.top + y });
      }}
      onPointerUp={() => {
        grabbed.current = null;
      }}
    >
      <svg
        class="picture"
        width={width}
        height={height}
        role="application"
        aria-label="Module graph; arrow keys walk over the nodes, Enter shows one, Space opens or closes it, plus, minus and 0 zoom"
        tabindex={0}
        onKeyDown={onKey}
      >
        <NodePatterns />
        <g transform={`translate(${place.left} ${place.top}) scale(${place.scale})`}>
          {drawn.edges.map(({ from, to }) => (
            <path
              key={to.row.key}
              class={chain.has(to.row) ? "graph-edge in-chain" : "graph-edge"}
              d={edgeTo(from, to, NODE.height / 2)}
            />
          ))}
          {drawn.rests.map((rest) => (
            <path
              key={`to ${rest.of.key}`}
              class="graph-edge"
              d={edgeTo(rest.from, rest, (NODE.rest - GAP_BELOW) / 2)}
            />
          ))}
          {drawn.rests.map((rest) => (
            <RestBox key={rest.of.key} rest={rest} onGpu={onGpu} onShow={() => tree.showSmall(rest.of)} />
          ))}
          {drawn.nodes.map((node) => (
            <NodeBox
              key={node.row.key}
              node={node}
              core={core}
              onGpu={onGpu}
              selected={node.row === tree.selected}
              focused={node === focused}
              chained={chain.has(node.row)}
              scale={place.scale}
              share={shareOf(node.row.values[by], tree.whole(by)) ?? 0}
              onSelect={() => {
                setFocus(null);
                tree.select(node.row);
              }}
              onToggle={() => toggle(node)}
            />
          ))}
        </g>
      </svg>
      <p class="visually-hidden" role="status">
        {focused === undefined ? "" : shownPath(focused.row)}
      </p>
      <div class="graph-zoom" onPointerDown={(event) => event.stopPropagation()}>
        <button
          type="button"
          class="icon-button"
          aria-label="Zoom in"
          data-tip="Zoom in (+)"
          onClick={() => zoom(1.25)}
        >
          <Icon name="plus" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label="Zoom out"
          data-tip="Zoom out (-)"
          onClick={() => zoom(0.8)}
        >
          <Icon name="minus" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label={isAll ? "Fit" : "Show all"}
          data-tip={isAll ? "Fit (0)" : "The graph goes on: drag it, or show all (0)"}
          onClick={showAll}
        >
          <Icon name="fit" />
          {!isAll && "Show all"}
        </button>
      </div>
    </div>
  );
}
