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

it("names the one panel that lacks ops, and none where all are known", () => {
  expect(emptyPanels(dashboard())).toEqual([]);
  const [told] = emptyPanels(dashboard({ recorded: [], tensor_core_efficiency: efficiency }));
  expect(told?.titles).toEqual(["Tensor Core Kernel Efficiency"]);
  expect(told?.reason).toContain("no ops were recorded");
});
