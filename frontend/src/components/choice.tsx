/** A few ways to look at the same, of which one is chosen: a row of buttons, kept in the URL. */
import { navigate } from "../frame/url";
import type { Changes } from "../model/url_state";
import { walk } from "./walking";

interface ChoiceProps<Id extends string> {
  /** What is chosen, for people who cannot see that the buttons belong together: `Group by`. */
  label: string;
  /** Whether the label is also drawn. */
  shown?: boolean;
  options: readonly (readonly [id: Id, label: string, tip?: string])[];
  value: Id;
  /** What a choice changes of the URL. */
  to: (id: Id) => Changes;
}

export function Choice<Id extends string>({ label, shown = false, options, value, to }: ChoiceProps<Id>) {
  return (
    <div class="choice">
      {shown && (
        <span class="muted" aria-hidden="true">
          {label}
        </span>
      )}
      <div class="button-group" role="group" aria-label={label} onKeyDown={walk}>
        {options.map(([id, text, tip], i) => (
          <button
            key={id}
            type="button"
            class="button toggle"
            aria-pressed={id === value}
            tabIndex={id === value || (i === 0 && !options.some(([each]) => each === value)) ? 0 : -1}
            data-tip={tip}
            onClick={() => navigate(to(id), true)}
          >
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}

/** The option that the URL names, else the first. */
export function chosenOf<Id extends string>(
  options: readonly (readonly [id: Id, ...rest: unknown[]])[],
  asked = "",
): Id {
  const [first] = options;
  const active = options.find(([id]) => id === asked) ?? first;
  if (active === undefined) throw new Error("There is nothing to choose from.");
  return active[0];
}
