import { describe, expect, it } from "vitest";

import { endsApart, placesApart, shortPath, shortPlace } from "./short_place";

const letters = (text: string): number => text.length;

describe("shortPlace", () => {
  it("leaves a place that fits as it is", () => {
    expect(shortPlace("/model/encoder/", 15, letters)).toBe("/model/encoder/");
  });
  it("cuts at a slash and says so", () => {
    expect(shortPlace("/model/encoder/attention/", 24, letters)).toBe("…/encoder/attention/");
    expect(shortPlace("/model/encoder/attention/", 12, letters)).toBe("…/attention/");
    expect(shortPlace("/model/encoder/attention/", 3, letters)).toBe("…/");
    expect(shortPlace("Optimizer.step#Adam.step/", 5, letters)).toBe("…/");
    expect(shortPlace("no op: ", 3, letters)).toBe("no op: ");
    expect(shortPlace("/", 0, letters)).toBe("/");
  });
  it("uses the room that is left for the next part, with its beginning and its end", () => {
    const place = "/Encoder/LayerSelfAttention/Attention/Linear/";
    expect(shortPlace(place, 36, letters)).toBe("…/LayerSelfA…ntion/Attention/Linear/");
    expect(shortPlace(place, 44, letters)).toBe("/Encod…/LayerSelfAttention/Attention/Linear/");
    expect(shortPlace(place, 24, letters)).toBe("…/Attention/Linear/");
  });
  it("keeps of the owner of an op as much as fits, so that no row is without one", () => {
    expect(shortPlace("/Optimizer.step#SGD.step/", 20, letters)).toBe("/Optimizer.st….step/");
    expect(shortPlace("Optimizer.step#Adam.step/", 8, letters)).toBe("Optimi…/");
    expect(shortPlace("/Model/LayerSelfAttention/", 14, letters)).toBe("…/LayerSelfA…/");
  });
});

it("cuts a path in a sentence where it is too long to be read there", () => {
  expect(shortPath("/model/encoder/linear")).toBe("/model/encoder/linear");
  expect(shortPath(`/${"range/".repeat(12)}block/conv2d`)).toBe(`…/${"range/".repeat(7)}block/conv2d`);
  // A range of the user's may have all of a request in its name.
  expect(shortPath(`/serve/${"request_".repeat(9)}end`)).toBe(
    "…/request_request_request_request_request_…request_request_end",
  );
  expect(shortPath("")).toBe("");
  expect(shortPath("unassociated_cudaMemcpyAsync")).toBe("cudaMemcpyAsync");
});

describe("placesApart", () => {
  const mlp = "/Model/Layer[]/MLP/Linear/linear";
  const attention = "/Model/Layer[]/Attention/Linear/linear";
  it("keeps what tells two paths apart where cutting them would make them alike", () => {
    const places = placesApart([mlp, attention, "/Model/norm"], 16, letters);
    expect([...places.values()]).toEqual(["…/MLP/…/", "…/Attention/…/", "/Model/"]);
  });
  it("keeps the owner of the op besides, where it fits", () => {
    const block = (of: string): string => `/Model/Blocks/${of}/Layer/Attention/Linear/linear`;
    const places = placesApart([block("First"), block("Other")], 30, letters);
    expect([...places.values()]).toEqual(["…/First/…/Linear/", "…/Other/…/Linear/"]);
  });
  it("cuts as little as it can where nothing is alike", () => {
    expect(placesApart([mlp, attention], 60, letters).get(mlp)).toBe("/Model/Layer[]/MLP/Linear/");
    expect(placesApart([mlp, attention], 20, letters).get(mlp)).toBe("…/MLP/Linear/");
    expect(placesApart([mlp, mlp], 16, letters).get(mlp)).toBe("…/Linear/");
  });
  it("cuts paths that differ in indices alone in the same way, and keeps each index in which they do", () => {
    const conv = (stage: number, block: number, conv: number): string =>
      `/ResNet/Stage[${stage}]/Block[${block}]/Conv[${conv}]/Norm/conv2d`;
    const convs = [conv(0, 0, 1), conv(0, 1, 1), conv(1, 0, 1), conv(1, 0, 2)];
    const cut = (room: number): string[] => [...placesApart(convs, room, letters).values()];
    expect(cut(43)[2]).toBe("…/Stage[1]/Block[0]/Conv[1]/Norm/");
    expect(cut(37)[2]).toBe("…/Stage[1]/Block[0]/Conv[1]/…/");
    expect(cut(33)).toEqual(
      ["…[0]/Block[0]/…", "…[0]/Block[1]/…", "…[1]/Block[0]/…", "…[1]/Block[0]/…"].map((text, i) =>
        text.replace(/…$/, `Conv[${i === 3 ? 2 : 1}]/…/`),
      ),
    );
    expect(cut(20)[3]).toBe("…[1]/…[0]/…[2]/…/");
    expect(new Set(cut(4)).size).toBe(4);
    const same = convs.slice(0, 2).map((path) => path.replace("Conv[1]", "Conv"));
    expect([...placesApart(same, 19, letters).values()]).toEqual(["…/Block[0]/…/", "…/Block[1]/…/"]);
  });
  it("keeps besides what tells them from others with these indices", () => {
    const linear = (of: string) => [0, 1].map((layer) => `/Model/Layer[${layer}]/${of}/Linear/linear`);
    const places = placesApart([...linear("MLP"), ...linear("Attention")], 24, letters);
    expect([...places.values()]).toEqual([
      "…/Layer[0]/MLP/…/",
      "…/Layer[1]/MLP/…/",
      "…[0]/Attention/…/",
      "…[1]/Attention/…/",
    ]);
  });
  it("begins with what the text begins with", () => {
    const texts = ["cudaMalloc in /Model/Layer[]/conv", "cudaFree in /Model/Layer[]/conv"];
    expect([...placesApart(texts, 24, letters).values()]).toEqual(["cudaMalloc in /…/", "cudaFree in /…/"]);
  });
  it("counts as alike what is so after the end of a name is cut, too", () => {
    const paths = ["/f/transpose/transpose input_transpose_fusion", "/f/kernel/transpose input_transpose_fusion"];
    expect([...placesApart(paths, 24, letters).values()]).toEqual(["…/transpose/", "…/kernel/"]);
    expect([...placesApart(["/a/linear", "/b/linear"], 8, letters).values()]).toEqual(["/a/", "/b/"]);
  });
});

it("measures names of thousands of letters a few times", () => {
  let measured = 0;
  const counted = (text: string): number => {
    measured += 1;
    return text.length;
  };
  placesApart([`/Model/${"k".repeat(4000)}`, `/Model/${"k".repeat(4000)}b`], 30, counted);
  expect(measured).toBeLessThan(200);
});

it("names paths by the shortest end that no other has", () => {
  const paths = ["/m/MLP/Linear/linear", "/m/Attention/Linear/linear", "/m/norm", "/other/m/norm"];
  expect([...endsApart(paths).values()]).toEqual([
    "MLP/Linear/linear",
    "Attention/Linear/linear",
    "m/norm",
    "other/m/norm",
  ]);
  expect(endsApart(["/", "unassociated_kernel"])).toEqual(
    new Map([
      ["/", "/"],
      ["unassociated_kernel", "kernel"],
    ]),
  );
});
