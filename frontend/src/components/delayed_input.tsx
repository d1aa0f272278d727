import { useEffect, useRef, useState } from "preact/hooks";

const TYPING_PAUSE_MS = 250;

/** A text field that reports its text once the typing pauses, and follows the URL when that changes elsewhere. */
export function DelayedInput({
  value,
  onChange,
  ...attributes
}: {
  value: string;
  onChange: (text: string) => void;
  label: string;
  placeholder: string;
  tip?: string;
  kind: "search" | "text";
}) {
  const [text, setText] = useState(value);
  const reported = useRef(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    // Only what others changed: the echo of our own report must not undo letters typed since.
    if (value !== reported.current) setText(value);
    reported.current = value;
  }, [value]);
  useEffect(() => {
    if (text === reported.current) return undefined;
    const timer = setTimeout(() => {
      reported.current = text;
      latest.current(text);
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type={attributes.kind}
      class="input"
      aria-label={attributes.label}
      placeholder={attributes.placeholder}
      data-tip={attributes.tip}
      value={text}
      spellcheck={false}
      autocomplete="off"
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}
