import type { ProfilesResponse } from "../api/types";
import { Message, Snippet } from "../components/message";
import { formatCounted } from "../format/number";
import { OtherFiles, otherFilesTitle, Reports } from "./unlisted_files";

const PYTORCH = `from torch.profiler import profile, schedule, tensorboard_trace_handler as handler
with profile(schedule=schedule(wait=1, warmup=2, active=5), on_trace_ready=handler(LOGDIR), record_shapes=True) as profiler:
    for batch in loader: train(batch); profiler.step()`;

const NSIGHT = `with torch.autograd.profiler.emit_nvtx(record_shapes=True): train()  # in train.py: names the ops
nsys profile -t cuda,nvtx,cudnn,cublas -o LOGDIR/profile python train.py
nsys export --type sqlite LOGDIR/profile.nsys-rep`;

const JAX = `with jax.profiler.trace(LOGDIR):
    for i in range(10):
        with jax.profiler.StepTraceAnnotation("train", step_num=i): state = train_step(state, batch)
    jax.block_until_ready(state)`;

const DLPROF = `import nvidia_dlprof_pytorch_nvtx; nvidia_dlprof_pytorch_nvtx.init()  # in train.py, in an NGC container
dlprof --mode=pytorch --output_path=LOGDIR python train.py`;

/** Up to so many files that are none are named at once, so that how to record one is in sight. */
const FEW = 5;

/** The page for a log directory or folder without profiles: how to record one. */
export function NoProfiles({ scan, opened }: Pick<ProfilesResponse, "scan" | "opened">) {
  const { directories, refused, remote, reports, others, others_count: count } = scan;
  const place = opened === null ? "the log directory" : opened.name;
  return (
    <Message icon="search" title={`No GPU profile in ${place}`}>
      <p>
        {directories > 0
          ? `${formatCounted(directories, "directory was", "directories were")} searched for `
          : "Looked for "}
        PyTorch profiler traces and memory snapshots, Nsight Systems exports, XPlane profiles (JAX, TensorFlow) and
        DLProf databases. A new one shows up here by itself.
      </p>
      <Reports reports={reports} />
      {refused.length > 0 && (
        <p>
          Not followed, because they lead out of the log directory:{" "}
          {refused.map(({ run, name }) => `${run}/${name}`).join(", ")}. Start the server with{" "}
          <code>--dlprof_allowed_dirs</code> to allow more folders.
        </p>
      )}
      {remote.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {count > 0 && count <= FEW && <OtherFiles files={others} />}
      {count > FEW && (
        <details>
          <summary>{otherFilesTitle(count)}</summary>
          <OtherFiles files={others} />
        </details>
      )}
      <p>
        Four ways to record one, with {place} in place of <code>LOGDIR</code>:
      </p>
      <h3>PyTorch profiler</h3>
      <Snippet what="how to record with the PyTorch profiler" text={PYTORCH} />
      <h3>Nsight Systems</h3>
      <Snippet what="how to record with Nsight Systems" text={NSIGHT} />
      <h3>JAX</h3>
      <Snippet what="how to record with JAX" text={JAX} />
      <h3>DLProf</h3>
      <Snippet what="how to record with DLProf" text={DLPROF} />
    </Message>
  );
}
