import { describe, expect, it } from "vitest";

import { beginningsApart, cutLabel, shortKernelName, splitId, splitPath, wordsApart } from "./kernel_name";
import { canPaste, splitText, withCode, wholeSentences } from "./links";

describe("kernel names", () => {
  it.each([
    ["volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn"],
    [
      "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn",
      "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn",
    ],
    ["void gemv2T_kernel_val<int, int, float, float>(int, float const*)", "gemv2T_kernel_val"],
    [
      "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>, at::detail::Array<char*, 3>)",
      "vectorized_elementwise_kernel ‹AddFunctor›",
    ],
    [
      "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_tn_align8::Params)",
      "cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_tn_align8",
    ],
    ["void (anonymous namespace)::softmax_warp_forward<float, 8>(float*)", "softmax_warp_forward"],
    ["at::native::(anonymous namespace)::CatArrayBatchedCopy<float>", "CatArrayBatchedCopy"],
    ["ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"],
    [
      "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32_MI16x16x1_SN_LDSB1_AFC1_AG0",
      "Cijk_Alik_Bljk_BBS ‹MI16x16x1 MT128x256x32›",
    ],
    ["Cijk_Ailk_Bljk_SB_MT64x64x8_SN_1LDSB0", "Cijk_Ailk_Bljk_SB ‹MT64x64x8›"],
    [
      "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_execute_kernel_cudnn",
      "sm80_xmma_wgrad_implicit_gemm_indexed ‹tf32f32 128x128x16›",
    ],
    [
      "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
      "sm90_xmma_gemm ‹bf16bf16 128x128x64›",
    ],
    ["Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"],
    [
      "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock22ImplicitGemmMultistageIN",
      "ImplicitGemmConvolution",
    ],
    ["_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_15gpu_kernel_implEE", "elementwise_kernel ‹gpu_kernel_impl›"],
    ["_ZN7my_code11fused_thingEPfS0_", "fused_thing"],
    ["_ZN", "_ZN"],
    ["cudaGraphLaunch_v10000", "cudaGraphLaunch"],
    ["", ""],
    ["broken<<<(", "broken"],
  ])("%s", (name, short) => {
    expect(shortKernelName(name)).toBe(short);
  });
});

it("leaves out of names what they have in common with another, where there is little room", () => {
  const [tile, other] = ["Cijk_A_B ‹MI16x16x1 MT128x192x64›", "Cijk_A_B ‹MI16x16x1 MT128x256x64›"];
  expect(beginningsApart(["sgemm_128x32_nn", "sgemm_128x32_tn"]).get("sgemm_128x32_nn")).toBe("sgemm_128x32_nn");
  const volta = "volta_sgemm_128x32_nn";
  expect(beginningsApart([volta, "volta_sgemm_128x32_tn"]).get(volta)).toBe("…128x32_nn");
  expect([...beginningsApart([tile, other, "softmax", "softmin", "softmax"])]).toEqual([
    [tile, "…MT128x192x64"],
    [other, "…MT128x256x64"],
    ["softmax", "softmax"],
    ["softmin", "softmin"],
  ]);
});

it("keeps of generated names what they do, on which type, and their tile, also where all do the same", () => {
  const pass = (name: string, tile: string) => `sm80_xmma_${name}_implicit_gemm ‹f16f16_f16f32 ${tile}›`;
  const names = [pass("wgrad", "128x32"), pass("dgrad", "128x32"), pass("dgrad", "128x64"), pass("fprop", "64x64")];
  expect([...beginningsApart(names).values()]).toEqual([
    "…wgrad f16 128x32",
    "…dgrad f16 128x32",
    "…dgrad f16 128x64",
    "…fprop f16 64x64",
  ]);
  expect([...beginningsApart([pass("fprop", "64x64"), pass("fprop", "128x32")]).values()]).toEqual([
    "…fprop f16 64x64",
    "…fprop f16 128x32",
  ]);
  const tf32 = pass("wgrad", "128x32").replace("f16f16_f16f32", "tf32f32");
  expect(new Set(beginningsApart([...names, tf32]).values()).size).toBe(5);
});

it("keeps the word that tells a name from others whose ends are alike", () => {
  const names = ["volta_fp16_sgemm_128x64_nn", "volta_fp16_hgemm_128x64_nn", "volta_fp16_hgemm_128x64_nt"];
  expect(beginningsApart(names).get(names[1] ?? "")).toBe("…hgemm…128x64_nn");
});

it("tells kernels apart that are as short, by what only one of them has", () => {
  const tile = (rest: string) => `Cijk_Alik_Bljk_BBS_BH_MT64x64x8_MI16x16x1_SN_${rest}`;
  const names = [
    tile("AFC1_4_ULS0"),
    tile("AFC1_6_ULS1"),
    tile("AFC0_4_ULS0"),
    "sgemm",
    "f<float, 4>(int)",
    "f<float, 8>(int)",
  ];
  expect([...wordsApart([...names, "sgemm"])]).toEqual([
    [names[1], "ULS1"],
    [names[2], "AFC0"],
    ["f<float, 4>(int)", "4"],
    ["f<float, 8>(int)", "8"],
  ]);
});

it("tells kernels apart that are cut to the same letters", () => {
  const [fprop, bprop] = ["fprop", "bprop"].map(
    (pass) => `cudnn_native_sdpa_sm90_flash_${pass}_f16_128x128x64_kernel0_0`,
  );
  const names = [fprop ?? "", bprop ?? ""];
  expect([...wordsApart(names, 40).values()]).toEqual(["fprop", "bprop"]);
  expect(wordsApart(names, 60).size).toBe(0);
});

describe("paths of ops", () => {
  it.each([
    ["## forward ##", "", "forward"],
    ["/## forward ##/Net/## all to all ##", "/forward/Net/", "all to all"],
    ["/-- step/a ## b", "/-- step/", "a ## b"],
    ["/ResNet/Conv2d[2]/conv2d", "/ResNet/Conv2d[2]/", "conv2d"],
    ["/conv2d", "", "conv2d"],
    ["conv2d", "", "conv2d"],
    ["/", "", "/"],
  ])("%s", (path, place, name) => {
    expect(splitPath(path)).toEqual({ place, name });
  });

  it("says of kernels without an op that they have none, in place of what DLProf has them begin with", () => {
    expect(splitPath("unassociated_Memcpy DtoD")).toEqual({ place: "no op:\u00a0", name: "Memcpy DtoD" });
  });
});

it.each([
  ["BATCH_NORM_102", "BATCH_NORM", "_102"],
  ["_FOREACH_ADD__1", "_FOREACH_ADD_", "_1"],
  ["UNASSOCIATED", "UNASSOCIATED", ""],
])("the number of the op %s stands apart", (id, kind, number) => {
  expect(splitId(id)).toEqual({ kind, number });
});

it("finds addresses, without the full stop behind them, and names between backticks", () => {
  expect(splitText("See https://a.example/x, then (https://b.example/y) in `a/https://c`.")).toEqual([
    { text: "See ", kind: "text" },
    { text: "https://a.example/x", kind: "link" },
    { text: ", then (", kind: "text" },
    { text: "https://b.example/y", kind: "link" },
    { text: ") in ", kind: "text" },
    { text: "a/https://c", kind: "code" },
    { text: ".", kind: "text" },
  ]);
  expect(splitText("javascript:alert(1) http://plain.example ` alone")).toHaveLength(1);
});

it.each([
  [
    'Launch less: torch.compile(model, mode="reduce-overhead") or torch.cuda.graph, or batch.',
    'Launch less: `torch.compile(model, mode="reduce-overhead")` or `torch.cuda.graph`, or batch.',
  ],
  [
    "Fuse them: model = torch.compile(model), or step = jax.jit(step).",
    "Fuse them: `model = torch.compile(model)`, or `step = jax.jit(step)`.",
  ],
  [
    "Pin it: .to(device, non_blocking=True), num_workers=0.",
    "Pin it: `.to(device, non_blocking=True)`, `num_workers=0`.",
  ],
  [
    "or with_stack=True. Set PYTORCH_NO_CUDA_MEMORY_CACHING.",
    "or `with_stack=True`. Set `PYTORCH_NO_CUDA_MEMORY_CACHING`.",
  ],
  [
    "Look at a/hooks.py(916): _set_up.<locals>.f: do its work, or at train.py:34 or run.py: see.",
    "Look at `a/hooks.py(916): _set_up.<locals>.f`: do its work, or at `train.py:34` or `run.py`: see.",
  ],
  ["nsys profile --cuda-graph-trace=node, then `a.b`.", "nsys profile `--cuda-graph-trace=node`, then `a.b`."],
  ["Look inside …/Model.forward/flatten_dense_tensors (1.5 ms), see https://docs.jax.dev/en_us.", null],
])("code of %s is set apart", (text, marked) => {
  expect(withCode(text)).toBe(marked ?? text);
});

it("a call, a setting or an option can be pasted, the name of a place cannot", () => {
  const pasted = [
    "Call profiler.step() after each.",
    "Set CUDNN=1_x: PYTORCH_CUDA_ALLOC_CONF=a:True.",
    "nsys profile --cuda-graph-trace=node",
  ];
  expect(pasted.map((text) => canPaste(withCode(text)))).toEqual([true, true, true]);
  const others = ["No change needed.", "Look at a/hooks.py(916): run: do it once.", "Use torch.cuda.graph."];
  expect(others.map((text) => canPaste(withCode(text)))).toEqual([false, false, false]);
});

it("cuts a text at the end of a sentence, never inside code", () => {
  const first = "Give it more, e.g. workers: `DataLoader(a; b. c)`";
  const text = `${first}; then make it cheaper. See the guide.`;
  expect(wholeSentences(text, 200)).toBe(text);
  expect(wholeSentences(text, 60)).toBe(`${first} …`);
  expect(wholeSentences(text, 10)).toBe(`${first} …`);
  expect(wholeSentences(text, 75)).toBe(`${first}; then make it cheaper …`);
  expect(wholeSentences("One long sentence without any end", 5)).toBe("One long sentence without any end");
});

it("a label that is cut keeps its end where there is room for one", () => {
  expect(cutLabel("T5LayerSelfAttention", 20)).toBe("T5LayerSelfAttention");
  expect(cutLabel("T5LayerSelfAttention", 16)).toBe("T5LayerSel…ntion");
  expect(cutLabel("T5LayerSelfAttention", 8)).toBe("T5Layer…");
});
