/** An op, or ops that do the same, of a list: a link to what Ops tells of it. */
import { FittingPath } from "../../components/value";
import { ViewLink } from "../../components/view_link";
import { showingOp, showingPath } from "../../model/url_state";

/** `id` is empty where the path stands for several ops, and so is `path` for work without an op. */
export function OpLink({ path, id }: { path: string; id: string }) {
  if (path === "") return <span class="muted">no op</span>;
  return (
    <ViewLink class="link-button" to={id === "" ? showingPath(path) : showingOp("ops", id)}>
      <FittingPath path={path} id={id} />
    </ViewLink>
  );
}
