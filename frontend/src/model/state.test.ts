import { describe, expect, it } from "vitest";

import type { Column } from "../api/types";
import {
  ambiguousPaths,
  foldable,
  forUnit,
  nextSort,
  pageNumbers,
  readTableState,
  repeated,
  repeatedColumns,
  sortDirection,
  tableChanges,
  pickedColumns,
  withoutGpu,
  withOwnUnit,
} from "./table_state";
import { arriving, forOtherProfile, readHash, wholeNumber, withValues, writeHash } from "./url_state";

const column = (key: string, type: Column["type"], hidden = false): Column => ({
  key,
  label: key,
  type,
  description: "",
  sortable: true,
  filterable: true,
  searchable: true,
  hidden,
  tier: 0,
});

describe("the hash", () => {
  it("has whole numbers, or what is as good as none", () => {
    expect(wholeNumber("20")).toBe(20);
    for (const text of [undefined, "", "x", "-1", "1.5", "1".repeat(16)]) expect(wholeNumber(text)).toBeNull();
  });

  it("gives back what was written, whatever the run is called", () => {
    const state = { run: "a/b c&d=e:é,#%", view: "ops", "ops.where.gpu_time_ns": ">1ms" };
    const hash = writeHash("#dlprof", state);
    expect(hash.startsWith("#dlprof&p.dlprof.")).toBe(true);
    expect(readHash(hash)).toEqual(state);
  });

  it("leaves the parameters of others alone", () => {
    const hash = writeHash("#dlprof&p.other.x=1&p.dlprof.view=ops", { view: "dashboard" });
    expect(hash).toBe("#dlprof&p.other.x=1&p.dlprof.view=dashboard");
  });

  it("survives a hand-made link", () => {
    expect(readHash("#dlprof&p.dlprof.run=100%&p.dlprof.view=&&p.dlprof")).toEqual({ run: "100%" });
    expect(readHash("")).toEqual({});
    expect(writeHash("", {})).toBe("");
  });

  it("drops a value that is set to nothing", () => {
    expect(withValues({ a: "1", b: "2" }, { a: null, b: "", c: "3" })).toEqual({ c: "3" });
  });

  it("forgets what was narrowed where a jump arrives, and nothing else", () => {
    const state = {
      "ops.search": "conv",
      "ops.where.calls": ">1",
      "ops.page": "2",
      "ops.sort": "-calls",
      "kernels.search": "gemm",
      "groups.filter": "loss",
      view: "groups",
    };
    expect(withValues(state, arriving(state, { view: "ops", "ops.row": "X_1", "ops.search": "X_1" }))).toEqual({
      "ops.search": "X_1",
      "ops.row": "X_1",
      "ops.sort": "-calls",
      "kernels.search": "gemm",
      "groups.filter": "loss",
      view: "ops",
    });
    expect(arriving(state, { view: "iterations" })).toEqual({ view: "iterations" });
    expect(arriving(state, { "groups.row": "a/b" })).toEqual({ "groups.row": "a/b", "groups.filter": null });
  });

  it("keeps filters but not pages, rows and aggregation when another profile is chosen", () => {
    const state = {
      ...{ view: "ops", aggregation: "2", "ops.page": "3", "ops.row": "x", "ops.search": "conv" },
      ...{ "memory.at": "5", "memory.from": "1" },
    };
    expect(forOtherProfile(state)).toEqual({ view: "ops", "ops.search": "conv" });
  });
});

describe("a table's part of the URL", () => {
  it("restores page, size, order, search, filters, row and columns", () => {
    const before = readTableState({}, "ops");
    const after = {
      page: 2,
      size: 50,
      sort: "-calls",
      search: "conv",
      where: { gpu_time_ns: ">1ms" },
      row: "A_1",
      columns: ["shapes"],
    };
    const url = withValues({}, tableChanges("ops", before, after));
    expect(url["ops.page"]).toBe("3");
    expect(readTableState(url, "ops")).toEqual(after);
    expect(readTableState(url, "kernels")).toEqual(before);
  });

  it("forgets a filter that was cleared", () => {
    const url = { "ops.where.name": "x" };
    const before = readTableState(url, "ops");
    expect(withValues(url, tableChanges("ops", before, { ...before, where: {} }))).toEqual({});
  });

  it("takes no nonsense from a link", () => {
    const state = readTableState({ "ops.page": "-1", "ops.size": "7", "ops.sort": "" }, "ops");
    expect(state).toMatchObject({ page: 0, size: 25, sort: "" });
  });
});

describe("order and columns", () => {
  it("sorts numbers largest first, text from A to Z", () => {
    expect(nextSort("", column("calls", "integer"))).toBe("-calls");
    expect(nextSort("-calls", column("calls", "integer"))).toBe("calls");
    expect(nextSort("-calls", column("name", "text"))).toBe("name");
    expect(nextSort("name", column("name", "text"))).toBe("-name");
    expect(sortDirection("-calls", "calls")).toBe("descending");
    expect(sortDirection("-calls", "name")).toBe("none");
    expect(sortDirection("-size_ns", "change_ns")).toBe("descending");
  });

  it("folds what is alike in all of many rows, and of few what is empty", () => {
    const columns = ["id", "same", "empty", "differs"].map((key) => column(key, "text"));
    const first = { id: "a", same: "x", empty: null, differs: "p" };
    const keys = (total: number, needed: string[] = [], rows = [first]): string[] =>
      foldable(columns, { constant: ["same", "empty"], key: "id", rows, total }, needed).map(({ key }) => key);
    expect(keys(11)).toEqual(["same", "empty"]);
    expect(keys(2)).toEqual(["empty"]);
    expect(keys(2, ["empty"])).toEqual([]);
    // Nothing passes the filters, so nothing is known.
    expect(keys(2, [], [])).toEqual([]);
    // Of a comparison, a side without anything; elsewhere, 0 is a number like others.
    const sides = ["a_ns", "told", "zero"].map((key) => column(key, "text"));
    const row = { a_ns: 0, told: "not tested", zero: 0 };
    const constant = sides.map(({ key }) => key);
    expect(foldable(sides, { constant, key: "id", rows: [row], total: 2 }, []).map(({ key }) => key)).toEqual([
      "a_ns",
      "told",
    ]);
    // A single row is not compared with others.
    expect(foldable(columns, { constant: [], key: "id", rows: [first], total: 1 }, []).map(({ key }) => key)).toEqual([
      "empty",
    ]);
  });

  it("shows the columns that were chosen in the table's order, and those of the view where none is known", () => {
    const columns = [column("a", "text"), column("b", "text", true), column("c", "text")];
    expect(pickedColumns(columns, ["b", "gone", "a"])?.map(({ key }) => key)).toEqual(["a", "b"]);
    expect(pickedColumns(columns, [])).toBeNull();
    expect(pickedColumns(columns, ["gone"])).toBeNull();
  });
});

describe("page numbers", () => {
  it.each([
    [0, 1, [0]],
    [0, 3, [0, 1, 2]],
    [0, 20, [0, 1, null, 19]],
    [3, 20, [0, 1, 2, 3, 4, null, 19]],
    [10, 20, [0, null, 9, 10, 11, null, 19]],
    [16, 20, [0, null, 15, 16, 17, 18, 19]],
  ])("page %d of %d", (current, pages, shown) => {
    expect(pageNumbers(current, pages)).toEqual(shown);
  });
});

it("columns are named after the GPU's matrix units", () => {
  const columns = [{ ...column("using", "boolean"), label: "Using TC", description: "Whether it uses Tensor Cores." }];
  expect(forUnit(columns, "Tensor Core")).toBe(columns);
  const [using] = forUnit(columns, "Matrix Core");
  expect([using?.label, using?.description]).toEqual(["Using MC", "Whether it uses Matrix Cores."]);
});

it("hides what a GPU did where none was recorded", () => {
  const columns = ["name", "cpu_time_ns", "total_gpu_time_ns", "using_tensor_cores", "eligible", "kernel_calls"];
  const shown = withoutGpu(columns.map((key) => column(key, "text"))).filter(({ hidden }) => !hidden);
  expect(shown.map(({ key }) => key)).toEqual(["name", "cpu_time_ns", "eligible"]);
});

it("finds paths of which what is shown does not tell ops apart", () => {
  const rows = [
    { op_id: "A", name: "/net[0]/linear" },
    { op_id: "B", name: "/net[1]/linear" },
    { op_id: "C", name: "/net[1]/relu" },
    { op_id: "D", name: "/add" },
    { op_id: "E", name: "/add" },
  ];
  expect(ambiguousPaths(rows, "name", (path) => path)).toEqual(new Set(["/add"]));
  const end = (path: string): string => path.slice(path.lastIndexOf("/"));
  expect(ambiguousPaths(rows, "name", end)).toEqual(new Set(["/net[0]/linear", "/net[1]/linear", "/add"]));
});

describe("a filter of times", () => {
  it.each([
    [">20", "ms", ">20ms"],
    ["20", "µs", "20µs"],
    ["<= 1.5e3 ", "s", "<= 1.5e3s"],
    [">20us", "ms", ">20us"],
    ["10..50", "ms", "10ms..50ms"],
    ["10..50us", "ms", "10us..50us"],
    ["", "ms", ""],
    ["much", "ms", "much"],
    [">1", "GiB", ">1GiB"],
    ["1MiB..2", "GiB", "1MiB..2MiB"],
  ] as const)("%s under a head in %s is %s", (typed, unit, meant) => {
    expect(withOwnUnit(typed, unit)).toBe(meant);
  });
});

it("folds a column that says the same as another one, unless it is in use", () => {
  const columns = ["ops", "calls"].map((key) => column(key, "integer"));
  const labels = (needed: readonly string[], shown = columns) =>
    repeatedColumns(shown, { repeated: { calls: "ops" } }, needed).map(([{ key }, other]) => [key, other]);
  expect(labels([])).toEqual([["calls", "ops"]]);
  expect(labels(["calls"])).toEqual([]);
  expect(labels([], columns.slice(1))).toEqual([]);
});

it("leaves out calls that repeat the number of ops in every row", () => {
  const columns = ["a_ops", "b_ops", "a_calls", "b_calls"].map((key) => column(key, "number"));
  const same = [
    { a_ops: 2, b_ops: 0, a_calls: 2, b_calls: 0 },
    { a_ops: null, b_ops: null, a_calls: null, b_calls: null },
  ];
  expect([...repeated(columns, same, [])]).toEqual(["a_calls", "b_calls"]);
  expect([...repeated(columns, same, ["b_calls"])]).toEqual([]);
  expect([...repeated(columns, [...same, { a_ops: 2, b_ops: 1, a_calls: 4, b_calls: 2 }], [])]).toEqual([]);
  // Kernels are not counted as ops.
  expect([...repeated(columns, [{ a_ops: null, b_ops: null, a_calls: 4, b_calls: 2 }], [])]).toEqual([]);
});

it("leaves out what the time of a call changes where it is all of the change", () => {
  const columns = ["change_ns", "speed_ns"].map((key) => column(key, "duration_ns"));
  const rows = [
    { change_ns: -3, speed_ns: -3 },
    { change_ns: 2, speed_ns: null },
  ];
  expect([...repeated(columns, rows, [])]).toEqual(["speed_ns"]);
  expect([...repeated(columns, rows, ["speed_ns"])]).toEqual([]);
  expect([...repeated(columns, [...rows, { change_ns: 5, speed_ns: 4 }], [])]).toEqual([]);
});
