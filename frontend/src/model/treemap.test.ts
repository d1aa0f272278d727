import { expect, it } from "vitest";

import { nodes } from "../testing/tree";
import { buildTree, Rows } from "./group_tree";
import { squarified, treemap } from "./treemap";

it("fills the place with areas in proportion, nearly square", () => {
  const boxes = squarified([6, 6, 4, 3, 2, 2, 1], { x: 0, y: 0, width: 6, height: 4 });
  expect(boxes.map(({ width, height }) => Number((width * height).toFixed(6)))).toEqual([6, 6, 4, 3, 2, 2, 1]);
  for (const { width, height } of boxes) expect(Math.max(width / height, height / width)).toBeLessThan(3.1);
});

it("puts children within their parent, and counts what has no time", () => {
  const rows = new Rows(buildTree(nodes(), ""), { sort: "", fold: false, visible: null });
  const { boxes, withoutTime } = treemap(rows, "gpu_time_ns", 600, 400);
  expect(withoutTime).toBe(0);
  const [net, head] = ["/Net/", "/Net/Head/"].map((key) => boxes.find(({ row }) => row.key === key));
  if (net === undefined || head === undefined) throw new Error("There is no such box.");
  expect(head.x).toBeGreaterThanOrEqual(net.x);
  expect(head.x + head.width).toBeLessThanOrEqual(net.x + net.width + 1e-6);
  expect(head.y + head.height).toBeLessThanOrEqual(net.y + net.height + 1e-6);
  expect(treemap(rows, "unknown_time_ns", 600, 400)).toEqual({ boxes: [], withoutTime: 1, tooSmall: 0 });
});
