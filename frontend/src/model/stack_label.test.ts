import { describe, expect, it } from "vitest";

import { stackLabels } from "./stack_label";

const END = "torch/optim/optimizer.py(493): wrapper < app/run.py(9): main";

describe("stackLabels", () => {
  it("begins with the line of the program and the op that it calls", () => {
    expect(
      stackLabels([`aten::empty < aten::zeros_like < app/adam.py(82): step < ${END}`, "aten::bmm < BmmBackward0"]),
    ).toEqual(["app/adam.py(82): step > aten::zeros_like", "aten::bmm < BmmBackward0"]);
  });

  it("tells by the callers what would be alike", () => {
    const line = "aten::mm < nn/modules/linear.py(125): forward < app/net.py(7): forward";
    expect(stackLabels([`${line} < app/run.py(3): warm < ${END}`, `${line} < app/run.py(5): train < ${END}`])).toEqual([
      "app/net.py(7): forward > nn/modules/linear.py(125): forward, from app/run.py(3): warm",
      "app/net.py(7): forward > nn/modules/linear.py(125): forward, from app/run.py(5): train",
    ]);
  });
});
