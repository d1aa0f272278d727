interface MarkStepsProps {
  /** As the Dashboard's answer names it. */
  framework: string | null;
  /** What recorded the profile: each knows other marks. */
  format: string;
}

const STEPS_OF_XPLANE: Readonly<Record<string, string>> = {
  JAX: 'jax.profiler.StepTraceAnnotation("train", step_num=i)',
  TensorFlow: 'tf.profiler.experimental.Trace("train", step_num=i, _r=1)',
  PyTorch: 'torch_xla.debug.profiler.StepTrace("train", step_num=i)',
};

/** How a program marks its iterations for what records it; the start of a sentence. */
export function MarkSteps({ framework, format }: MarkStepsProps) {
  if (format === "pytorch")
    return (
      <>
        Call <code>profiler.step()</code> after each one
      </>
    );
  const mark =
    format === "xplane" ? STEPS_OF_XPLANE[framework ?? ""] : framework === "PyTorch" && 'torch.cuda.nvtx.range("step")';
  return (
    <>
      Put {mark ? <code>{mark}</code> : `an ${format === "xplane" ? "annotation with a step number" : "NVTX range"}`}{" "}
      around each one
    </>
  );
}
