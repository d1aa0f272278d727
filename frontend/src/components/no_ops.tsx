import { nothingShown } from "../model/tree_values";
import { Message } from "./message";

/** In place of a page about ops, of a profile without any and without GPU work. */
export const NoOps = () => (
  <Message title="No ops were recorded">
    <p>{nothingShown("")}</p>
  </Message>
);
