import { expect, it } from "vitest";

import { dashboard } from "../testing/builders";
import { graphLaunchShare } from "./graph_launch";

const page = (name: string, gpu_time_ns: number) => ({
  rows: [{ name, gpu_time_ns }],
  totals: { gpu_time_ns: 100 },
});

it("tells a graph launch that holds most GPU time from other ops, and from graphs without kernels", () => {
  const data = dashboard();
  const { graph } = data.kernel_time;
  const byNode = { kernel_time: { ...data.kernel_time, graph: { ...graph, time_ns: 0 } } };
  const whole = { kernel_time: { ...data.kernel_time, graph: { ...graph, time_ns: data.kernel_time.total.time_ns } } };
  expect(graphLaunchShare(page("/Model/Call CompiledFxGraph/hipGraphLaunch", 85), byNode)).toBe(0.85);
  expect(graphLaunchShare(page("unassociated_cudaGraphLaunch_v10000", 85), byNode)).toBe(0.85);
  expect(graphLaunchShare(page("/Model/hipGraphLaunch", 50), byNode)).toBeNull();
  expect(graphLaunchShare(page("/Model/hipGraphLaunch", 85), whole)).toBeNull();
  expect(graphLaunchShare(page("/Model/linear", 85), byNode)).toBeNull();
  expect(graphLaunchShare({ rows: [], totals: {} }, byNode)).toBeNull();
});
