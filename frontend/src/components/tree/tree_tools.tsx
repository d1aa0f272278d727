/** What is done to the tree as a whole: levels, folding, filter, zoom. */
import { DelayedInput } from "../delayed_input";
import { Icon } from "../icon";
import type { GroupTree } from "./use_group_tree";

const FILTER_HELP =
  "Any part of a path, or a pattern: * stands for anything within one level, ** for any number of levels.\n/ResNet/*/conv2d   **/attention/**   *[0]*";

export function TreeTools({ tree }: { tree: GroupTree }) {
  const { level, deepest, filter } = tree;
  return (
    <>
      <div class="search tree-filter">
        <Icon name="search" />
        <DelayedInput
          kind="search"
          label="Filter by path"
          placeholder="Path: **/conv*"
          tip={FILTER_HELP}
          value={filter}
          onChange={(text) => tree.change({ filter: text, toggled: null, place: null })}
        />
      </div>
      <div class="button-group" role="group" aria-label="Levels">
        <button type="button" class="button" onClick={() => tree.setLevel(deepest)}>
          Expand all
        </button>
        <button type="button" class="button" onClick={() => tree.setLevel(1)}>
          Collapse all
        </button>
        <label class="level-choice">
          To level
          <select
            class="input"
            value={level ?? ""}
            onChange={(event) => tree.setLevel(Number(event.currentTarget.value))}
          >
            {level === null && <option value="">auto</option>}
            {Array.from({ length: deepest }, (_, i) => i + 1).map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      </div>
      <label
        class="check"
        data-tip="Siblings whose names differ only in their numbers become one row, Layer[0..23], and so do a module and the one op in it"
      >
        <input type="checkbox" checked={tree.fold} onChange={(event) => tree.setFold(event.currentTarget.checked)} />
        Collapse repeated
      </label>
    </>
  );
}

/** Beside what is shown of a group alone. */
export const WholeModel = ({ tree: { root, change } }: { tree: GroupTree }) =>
  root === "" ? null : (
    <button
      type="button"
      class="button"
      data-tip={`Only ${root} is shown`}
      onClick={() => change({ root: null, level: null, toggled: null })}
    >
      <Icon name="close" /> Whole model
    </button>
  );
