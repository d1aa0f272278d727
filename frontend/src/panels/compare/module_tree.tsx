/** The modules of both sides: an icicle in the colours of their changes, and the tree with the times of A and B. */
import { useMemo } from "preact/hooks";

import { baselineLinks, type Baseline } from "../../api/client";
import type { CompareResponse } from "../../api/types";
import { PictureMenu } from "../../components/charts/picture_menu";
import { ExportMenu } from "../../components/table/export_menu";
import { Icicle } from "../../components/tree/icicle";
import { ShadeLegend } from "../../components/tree/shade_legend";
import { TreeTable } from "../../components/tree/tree_table";
import { TreeTools } from "../../components/tree/tree_tools";
import { useTree } from "../../components/tree/use_group_tree";
import { ViewLink } from "../../components/view_link";
import { useOneStop } from "../../components/walking";
import { readableAndExact } from "../../format/time";
import { useScope } from "../../frame/scope";
import { useUrl } from "../../frame/url";
import { signedDuration } from "../../model/change";
import { byChange, comparedModules } from "../../model/compared_modules";
import { isNeutral } from "../../model/measures";
import { shownPath, type TreeRow } from "../../model/tree_row";

const SCREEN = { lines: 24, levels: Infinity, perRow: true };
const NAME = "cmodules";
const TABLE = { table: "compare_modules", sort: "", search: "", where: {} };

export function ModuleTree({ comparison, baseline }: { comparison: CompareResponse; baseline: Baseline }) {
  const scope = useScope();
  const root = useUrl()[`${NAME}.root`] ?? "";
  const tools = useOneStop<HTMLElement>();
  const { groups, changeOf, whole } = useMemo(() => comparedModules(comparison, root), [comparison, root]);
  const colouring = useMemo(() => byChange(changeOf, whole), [changeOf, whole]);
  const tree = useTree(NAME, SCREEN, groups, 1);
  const neutral = isNeutral(comparison);
  if (comparison.modules.length === 0 || tree === null)
    return <p class="panel compare-nothing">No op is inside a module or range.</p>;
  const tip = (row: TreeRow): string => {
    const { a_ns: a, b_ns: b } = changeOf(row);
    return `${shownPath(row)}\nA: ${readableAndExact(a)}\nB: ${readableAndExact(b)}\nChange: ${signedDuration(b - a) || "0"}`;
  };
  const { selected, unordered } = tree;
  const path = selected?.members.length === 1 && selected.gathers === null ? shownPath(selected) : "";
  return (
    <section class="panel tree-panel" aria-label="Changes by Module">
      <header class="table-tools of-tree" {...tools}>
        <h2>Changes by Module</h2>
        <TreeTools tree={tree} />
        <ExportMenu
          asked={{ ...scope, ...TABLE, links: baselineLinks(baseline) }}
          columns={null}
          title="Changes by Module"
          filtered="All modules"
        />
        <PictureMenu title="Changes by Module" />
      </header>
      <div class="tree-body">
        {unordered.roots.length > 0 && (
          <div class="icicle">
            <div class="icicle-head">
              {!neutral && <ShadeLegend {...colouring} />}
              <span class="muted icicle-note">Width: the larger kernel time of both sides</span>
            </div>
            <Icicle
              tree={tree}
              matrixUnit={scope.matrixUnit}
              // Where a change is one of work and speed, none is better.
              colouring={neutral ? { ...colouring, of: () => "none" } : colouring}
              tip={tip}
            />
          </div>
        )}
        <TreeTable tree={tree} matrixUnit={scope.matrixUnit} compared={changeOf} />
      </div>
      {path !== "" && (
        <p class="tree-note">
          <ViewLink
            class="more-button"
            to={{
              "compare.tab": "ops",
              "compare.search": path.replace(/\/$/, ""),
              "compare.page": null,
              "compare.row": null,
            }}
          >
            Its ops in program order
          </ViewLink>
        </p>
      )}
    </section>
  );
}
