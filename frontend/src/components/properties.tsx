/** What is known of a thing: terms with their values, in a list that a screen reader knows as one. */
import type { ComponentChildren } from "preact";

export const Properties = ({ rows }: { rows: readonly (readonly [term: string, value: ComponentChildren])[] }) => (
  <dl class="properties">
    {rows.map(([term, value]) => (
      <div key={term}>
        <dt>{term}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
