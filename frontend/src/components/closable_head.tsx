/** The head of what is over the page or beside it: its title, and the X that closes it. */
import { Icon } from "./icon";
import { Breakable } from "./sentence";

export const ClosableHead = ({ title, id, onClose }: { title: string; id?: string; onClose: () => void }) => (
  <header class="panel-head">
    <h2 id={id}>
      {/* Names of kernels are broken between their words. */}
      <Breakable text={title} at={/(?<=_)/} />
    </h2>
    <div class="panel-tools">
      <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  </header>
);
