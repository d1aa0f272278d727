/** Lists of terms, which a screen reader knows as such. */
import type { ComponentChildren } from "preact";

interface TermsProps {
  rows: readonly (readonly [term: ComponentChildren, meaning: ComponentChildren])[];
  class?: string;
}

export const Terms = ({ rows, class: kind }: TermsProps) => (
  <dl class={kind}>
    {rows.map(([term, meaning], index) => (
      <div key={index}>
        <dt>{term}</dt>
        <dd>{meaning}</dd>
      </div>
    ))}
  </dl>
);

/** What is known of a thing: terms with their values. */
export const Properties = ({ rows }: Pick<TermsProps, "rows">) => <Terms class="properties" rows={rows} />;
