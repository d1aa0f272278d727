/** Group Ops: the tree of modules and name scopes, its icicle, and the ops and kernels of the selected row. */
import { Fragment, type ComponentChildren } from "preact";

import { PictureMenu } from "../../components/charts/picture_menu";
import { Treemap } from "../../components/charts/treemap";
import { Choice, chosenOf } from "../../components/choice";
import { Hint } from "../../components/hint";
import { Later } from "../../components/later";
import { ErrorBox, Loading } from "../../components/message";
import { DataTable } from "../../components/table/data_table";
import { ExportMenu } from "../../components/table/export_menu";
import { Icicle } from "../../components/tree/icicle";
import { TreeTable } from "../../components/tree/tree_table";
import { TreeTools } from "../../components/tree/tree_tools";
import { useGroupTree, type GroupTree } from "../../components/tree/use_group_tree";
import { useScope } from "../../frame/scope";
import { Duration } from "../../components/value";
import { navigate, useUrl } from "../../frame/url";
import { formatCount, formatCounted, ofIterations } from "../../format/number";
import { causeAbout } from "../../model/causes";
import { pathOf, type TreeRow } from "../../model/group_tree";
import { chainOf, communicates, isRated } from "../../model/tree_values";
import { colourings, type ColouringId } from "../../model/shades";
import { NodePane } from "./node_pane";
import { WasteNote } from "./waste_note";
import { useOneStop } from "../../components/walking";

const SCREEN_ROWS = 16;

/** About, px: an icicle of as many levels as most models have. */
const PICTURE_HEIGHT = { icicle: 146, treemap: 460 };

const ALL_GROUPS = { table: "groups", sort: "", search: "", where: {}, links: {} };

interface GroupOpsProps {
  /** The choice of another view of the tree. */
  choice: ComponentChildren;
  picture: "icicle" | "treemap";
}

/** A picture of the tree at full width, below it the tree as a table, beside that what is known of the selected row. */
export function GroupOps({ choice, picture }: GroupOpsProps) {
  const scope = useScope();
  const { matrixUnit } = scope;
  const { tree, query } = useGroupTree("groups", SCREEN_ROWS);
  const tools = useOneStop<HTMLElement>();
  const asked = useUrl()["groups.colour"];
  if (tree === null)
    return query.error === null ? <Loading what="the groups" /> : <ErrorBox error={query.error} retry={query.reload} />;
  const known = colourings(matrixUnit, isRated(tree.rows.tree), communicates(tree.rows.tree));
  const options = (Object.keys(known) as ColouringId[]).map(
    (id) => [id, known[id]?.label ?? "", known[id]?.about ?? ""] as const,
  );
  const by = chosenOf(options, asked);
  const colouring = known[by];
  const Picture = picture === "icicle" ? Icicle : Treemap;
  return (
    <div class="stacked">
      <WasteNote tree={tree} matrixUnit={matrixUnit} />
      <section class="panel tree-panel" aria-label="Group Ops">
        <header class="table-tools" {...tools}>
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
                <Choice
                  label="Colour"
                  shown
                  options={options}
                  value={by}
                  to={(id) => ({ "groups.colour": id === "cores" ? null : id })}
                />
                <ul class="shade-legend" aria-label={colouring.about} data-tip={colouring.about}>
                  {colouring.legend.map(([step, label]) => (
                    <li key={step}>
                      <span class={`swatch shade-${step}`} /> {label}
                    </li>
                  ))}
                </ul>
                <span class="muted icicle-note">
                  {picture === "icicle" ? "Width" : "Area"}: {scope.onGpu ? "GPU" : "CPU"} time
                  {ofIterations(", sum of", scope.iterations)}
                </span>
              </div>
              <Later of={tree.unordered} height={PICTURE_HEIGHT[picture]}>
                <Picture tree={tree} matrixUnit={matrixUnit} colouring={colouring} />
              </Later>
            </div>
          )}
          <div class="tree-and-pane">
            <TreeTable tree={tree} matrixUnit={matrixUnit} />
            {tree.selected !== null && (
              <NodePane
                row={tree.selected}
                tree={tree}
                withKernels={false}
                onClose={() => tree.change({ row: null, member: null })}
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
      <Chain tree={tree} />
      {tree.selected === null ? (
        <Hint title="Ops and Kernels of a Group" text="Select a row or a box above to see its ops and kernels." />
      ) : (
        <>
          <Limits row={tree.selected} />
          <Selected row={tree.selected} tree={tree} />
        </>
      )}
    </div>
  );
}

/** The levels from the top down to the selected row, each a way up. */
function Chain({ tree }: { tree: GroupTree }) {
  if (tree.selected === null) return null;
  return (
    <nav class="chain" aria-label="Levels of the selected group">
      {chainOf(tree.selected).map((row, i) => (
        <Fragment key={row.key}>
          {i > 0 && (
            <span class="muted" aria-hidden="true">
              ›
            </span>
          )}
          <button
            type="button"
            class="link-button"
            aria-current={row === tree.selected ? "true" : undefined}
            onClick={() => tree.select(row)}
          >
            {row.name}
          </button>
        </Fragment>
      ))}
    </nav>
  );
}

/** Why eligible ops below the row do not use matrix units well; a click narrows the table of its ops to a cause. */
function Limits({ row }: { row: TreeRow }) {
  const { matrixUnit } = useScope();
  const selectedCause = useUrl()["gops.where.cause"] ?? "";
  if (row.causes.length === 0) return null;
  return (
    <p class="limits">
      <span class="muted">
        {row.isOp ? "Eligible" : "Eligible ops below"}, but not using {matrixUnit}s, or not well:
      </span>
      {row.causes.map(({ label, kernelNs, ops }) => (
        <span key={label}>
          {row.isOp ? (
            <strong data-tip={causeAbout(label, matrixUnit)}>{label}</strong>
          ) : (
            <button
              type="button"
              class="link-button"
              aria-pressed={selectedCause === label}
              data-tip={`${causeAbout(label, matrixUnit)}\nA click shows these ops below.`}
              onClick={() =>
                navigate({ "gops.where.cause": selectedCause === label ? null : label, "gops.page": null })
              }
            >
              {label}
            </button>
          )}{" "}
          <Duration ns={kernelNs} /> {!row.isOp && <span class="muted">in {formatCounted(ops, "op")}</span>}
        </span>
      ))}
    </p>
  );
}

/** Ops and kernels of the row; of a folded one those of one member, which can be chosen. */
function Selected({ row, tree }: { row: TreeRow; tree: GroupTree }) {
  const asked = Number(useUrl()["groups.member"] ?? 0);
  const index = Number.isInteger(asked) && asked >= 0 && asked < row.members.length ? asked : 0;
  const node = row.members[index] ?? 0;
  const { nodes } = tree.rows.tree;
  const op = nodes.op_id[node] ?? null;
  const path = pathOf(tree.rows.tree, node);
  const name = op ?? path;
  return (
    <>
      {row.members.length > 1 && (
        <label class="member-choice">
          {row.name} stands for {formatCount(row.members.length)}. The tables show
          <select class="input" value={index} onChange={(event) => tree.change({ member: event.currentTarget.value })}>
            {row.members.map((member, i) => (
              <option key={member} value={i}>
                {pathOf(tree.rows.tree, member)} {nodes.op_id[member] ?? ""}
              </option>
            ))}
          </select>
        </label>
      )}
      {op === null && (
        <DataTable
          // The table has a column of causes once they are known.
          key={`ops ${name} ${tree.rows.tree.causes.length}`}
          table="ops_of_group"
          name="gops"
          title={`Ops of ${name}`}
          noun="ops"
          summed
          links={{ group: path }}
          pageSize={10}
          empty="There is no op below this group."
        />
      )}
      <DataTable
        key={`kernels ${name}`}
        table={op === null ? "kernels_of_group" : "kernels_of_op"}
        name="gkernels"
        title={`Kernels of ${name}`}
        noun="kernels"
        summed
        links={op === null ? { group: path } : { op }}
        pageSize={10}
        empty={
          op === null
            ? "The ops below this group launched no kernel."
            : "This op launched no kernel; copies and memsets are not listed."
        }
        selectable
      />
    </>
  );
}
