import { expect, it } from "vitest";

import { dashboard } from "../testing/builders";
import { emptyPanels } from "./empty_panels";

const nothing = { time_ns: 0, names: 0, launches: 0 };
const efficiency = { fraction: null, tensor_core_ns: 0, kernel_ns: 0, unknown_ns: 0 };

it("tells together which panels a recording without kernels leaves empty, and what fills them", () => {
  const [told, ...others] = emptyPanels(
    dashboard({
      gpu_utilization: { fraction: null, busy_ns: null, wall_ns: 1e9, devices: [] },
      kernel_time: {
        total: nothing,
        tensor_core: nothing,
        unknown: nothing,
        other_kernel: nothing,
        memory: nothing,
        graph: nothing,
      },
      tensor_core_efficiency: efficiency,
    }),
  );
  expect(told?.titles).toEqual(["GPU Utilization", "Tensor Core Kernel Efficiency", "Total Kernel GPU Time"]);
  expect(told?.reason).toContain("holds no kernel");
  expect(others).toEqual([]);
});

it("leaves out a ring that is all of one colour: what the time was spent on was not recorded", () => {
  const spent = (cpu: number) => ({
    resource_breakdown: [
      { resource: "cpu", time_ns: cpu, fraction: cpu / 1e9 },
      { resource: "other", time_ns: 1e9 - cpu, fraction: 1 - cpu / 1e9 },
    ],
  });
  const titles = (cpu: number) => emptyPanels(dashboard(spent(cpu) as object)).flatMap((each) => each.titles);
  expect([titles(0), titles(5)]).toEqual([["Resource Usage Breakdown"], []]);
});

it("names the one panel that lacks ops, and none where all are known", () => {
  expect(emptyPanels(dashboard())).toEqual([]);
  const [told] = emptyPanels(dashboard({ recorded: [], tensor_core_efficiency: efficiency }));
  expect(told?.titles).toEqual(["Tensor Core Kernel Efficiency"]);
  expect(told?.reason).toContain("no ops were recorded");
});
