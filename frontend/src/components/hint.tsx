import { Icon } from "./icon";

/** Stands where a table will be once something is selected. */
export function Hint({ title, text }: { title: string; text: string }) {
  return (
    <section class="hint" aria-label={title}>
      <Icon name="pointer" />
      <p>
        <strong>{title}</strong> <span>{text}</span>
      </p>
    </section>
  );
}
