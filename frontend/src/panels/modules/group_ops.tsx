/** Group Ops: the tree of modules and name scopes, its icicle, and the ops and kernels of the selected row. */
import type { ComponentChildren } from "preact";

import { PictureMenu } from "../../components/charts/picture_menu";
import { Treemap } from "../../components/charts/treemap";
import { Choice, chosenOf } from "../../components/choice";
import { Hint } from "../../components/hint";
import { Later } from "../../components/later";
import { ErrorBox, Loading } from "../../components/message";
import { DataTable } from "../../components/table/data_table";
import { ExportMenu } from "../../components/table/export_menu";
import { SumNote } from "../../components/sum_note";
import { Icicle } from "../../components/tree/icicle";
import { ShadeLegend } from "../../components/tree/shade_legend";
import { TreeTable } from "../../components/tree/tree_table";
import { TreeTools, WholeModel } from "../../components/tree/tree_tools";
import { useGroupTree, type GroupTree } from "../../components/tree/use_group_tree";
import { useScope } from "../../frame/scope";
import { useDiagnosis } from "../../frame/use_diagnosis";
import { useUrl } from "../../frame/url";
import { formatCounted } from "../../format/number";
import { linksOf } from "../../model/group_tree";
import { countedLabel, type TreeRow } from "../../model/tree_row";
import { communicates, isRated } from "../../model/tree_values";
import { colourings, withoutKernels, type ColouringId } from "../../model/shades";
import { NodePane } from "./node_pane";
import { WasteNote } from "./waste_note";
import { useOneStop } from "../../components/walking";

const SCREEN = { lines: 24, levels: Infinity, perRow: true };

/** About: an icicle of as many levels as most models have, and what the style sheet says of treemaps. */
const PICTURE_HEIGHT = { icicle: "146px", treemap: "clamp(300px, 100vh - 500px, 460px)" };

const ALL_GROUPS = { table: "groups", sort: "", search: "", where: {}, links: {} };

interface GroupOpsProps {
  /** The choice of another view of the tree. */
  choice: ComponentChildren;
  picture: "icicle" | "treemap";
  /** Whether the GPU has matrix units: else nothing is, or could be, on them. */
  hasUnits: boolean;
}

/** A picture of the tree at full width, below it the tree as a table, beside that what is known of the selected row. */
export function GroupOps({ choice, picture, hasUnits }: GroupOpsProps) {
  const scope = useScope();
  const { matrixUnit } = scope;
  const { tree, query } = useGroupTree("groups", SCREEN);
  const tools = useOneStop<HTMLElement>();
  const asked = useUrl()["groups.colour"];
  // The sentence waits for the findings, and all else for the sentence: nothing moves once it is read.
  const diagnosis = useDiagnosis();
  if (tree === null || (diagnosis.loading && diagnosis.data === null))
    return query.error === null ? <Loading what="the groups" /> : <ErrorBox error={query.error} retry={query.reload} />;
  const withCollectives = communicates(tree.rows.tree);
  const known = colourings(matrixUnit, isRated(tree.rows.tree), withCollectives);
  if (!hasUnits) delete known.cores;
  const options = (Object.keys(known) as ColouringId[]).map(
    (id) => [id, known[id]?.label ?? "", known[id]?.about ?? ""] as const,
  );
  const by = chosenOf(options, asked);
  const colouring = scope.onGpu ? known[by] : withoutKernels(matrixUnit, withCollectives);
  const Picture = picture === "icicle" ? Icicle : Treemap;
  return (
    <div class="stacked">
      <WasteNote tree={tree} matrixUnit={hasUnits ? matrixUnit : ""} diagnosis={diagnosis.data} />
      <section class="panel tree-panel" aria-label="Group Ops">
        <header class="table-tools of-tree" {...tools}>
          <h2>Group Ops</h2>
          {choice}
          <TreeTools tree={tree} />
          {/* A path tells where each row belongs: the file holds all, whatever is folded, filtered or zoomed here. */}
          <ExportMenu
            asked={{ ...scope, ...ALL_GROUPS }}
            columns={null}
            title="All Groups"
            filtered={tree.filter.trim() === "" && tree.root === "" ? "All groups" : "All groups, not only those shown"}
          />
          <PictureMenu title="Group Ops" />
        </header>
        {query.error !== null && (
          <p class="table-error" role="alert">
            {query.error.message} {query.error.hint}
          </p>
        )}
        <div class={query.loading ? "tree-body busy" : "tree-body"} aria-busy={query.loading}>
          {tree.rows.roots.length > 0 && colouring !== undefined && (
            <div class="icicle">
              <div class="icicle-head">
                <WholeModel tree={tree} />
                {scope.onGpu && (
                  <Choice
                    label="Colour"
                    shown
                    options={options}
                    value={by}
                    to={(id) => ({ "groups.colour": id === "cores" ? null : id })}
                  />
                )}
                <ShadeLegend {...colouring} />
                <span class="muted icicle-note">
                  <span data-tip={picture === "icicle" ? "What the width of a box shows" : "What its area shows"}>
                    {scope.onGpu ? "GPU" : "CPU"} time
                  </span>{" "}
                  <SumNote />
                </span>
              </div>
              <Later of={tree.unordered} height={PICTURE_HEIGHT[picture]}>
                <Picture tree={tree} matrixUnit={matrixUnit} colouring={colouring} />
              </Later>
            </div>
          )}
          <div class="tree-and-pane with-pane">
            <TreeTable tree={tree} matrixUnit={matrixUnit} />
            {tree.selected !== null && (
              <NodePane
                row={tree.selected}
                tree={tree}
                withKernels={false}
                onClose={() => tree.change({ row: null })}
              />
            )}
          </div>
        </div>
        {tree.leftOut > 0 && (
          <p class="muted tree-note">
            {formatCounted(tree.leftOut, "group or op", "groups and ops")} with the shortest GPU times are left out
            here; their times are in the sums. Select a group and show it alone to see more of it.
          </p>
        )}
      </section>
      {tree.selected === null ? (
        <Hint title="Ops and Kernels of a Group" text="Select a row or a box above to see its ops and kernels." />
      ) : (
        <Selected row={tree.selected} tree={tree} />
      )}
    </div>
  );
}

/** Ops and kernels of the row: of a folded one those of all that it stands for. */
function Selected({ row, tree }: { row: TreeRow; tree: GroupTree }) {
  const links = linksOf(tree.rows.tree, row);
  // Of a group its path: many have the same name.
  const name =
    row.gathers === null && links?.nodes === undefined ? (links?.group ?? countedLabel(row)) : countedLabel(row);
  if (links === null)
    return (
      <Hint
        title={`Ops and Kernels of ${name}`}
        text="Too many to be listed together: select a row below it, or untick Collapse repeated above."
      />
    );
  return (
    <>
      {links.op === undefined && (
        <DataTable
          // The table has a column of causes once they are known.
          key={`ops ${name} ${tree.rows.tree.causes.length}`}
          table="ops_of_group"
          name="gops"
          title={`Ops of ${name}`}
          noun="ops"
          summed
          links={links}
          pageSize={10}
          empty="There is no op below this group."
        />
      )}
      <DataTable
        key={`kernels ${name}`}
        table={links.op === undefined ? "kernels_of_group" : "kernels_of_op"}
        name="gkernels"
        title={`Kernels of ${name}`}
        noun="kernels"
        summed
        links={links}
        pageSize={10}
        empty={
          row.isOp ? "No kernel was launched; copies and memsets are not listed." : "The ops below launched no kernel."
        }
        selectable
      />
    </>
  );
}
