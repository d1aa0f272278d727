import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const TYPING_PAUSE_MS = 250;

const asTyped = (text: string): string => text;

/** A text field that reports its text once the typing pauses, at Enter, or when it is left, and follows the URL when that changes elsewhere. */
export function DelayedInput({
  value,
  onChange,
  complete = asTyped,
  ...attributes
}: {
  value: string;
  onChange: (text: string) => void;
  /** What is meant by what was typed; the field shows it once the typing is done. */
  complete?: (text: string) => string;
  label: string;
  placeholder: string;
  tip?: string;
  /** Whether Tab stops here. */
  stop?: boolean;
  kind: "search" | "text";
}) {
  const [text, setText] = useState(value);
  const reported = useRef(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  // As it was when the typing began: an answer in between must not change what the number means.
  const meaning = useRef(complete);
  const report = (): void => {
    const meant = meaning.current(text);
    if (meant === reported.current) return;
    reported.current = meant;
    latest.current(meant);
  };
  const finish = (): void => {
    report();
    setText(meaning.current(text));
  };
  useLayoutEffect(() => {
    // Only what others changed: the echo of our own report must not undo letters typed since.
    if (value !== reported.current) setText(value);
    reported.current = value;
  }, [value]);
  useEffect(() => {
    if (meaning.current(text) === reported.current) return undefined;
    const timer = setTimeout(report, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a pause after each letter
  }, [text]);
  return (
    <input
      type={attributes.kind}
      class="input"
      tabIndex={attributes.stop === false ? -1 : 0}
      aria-label={attributes.label}
      placeholder={attributes.placeholder}
      data-tip={attributes.tip}
      value={text}
      spellcheck={false}
      autocomplete="off"
      onFocus={() => (meaning.current = complete)}
      onBlur={finish}
      onKeyDown={(event) => {
        if (event.key === "Enter") finish();
      }}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}
