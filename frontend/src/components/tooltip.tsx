/**
 * One tooltip for the whole page: whatever carries `data-tip` shows that text when it is pointed at or focused.
 * The text is plain; a line break starts a new line. Esc hides it, as WCAG asks of content on hover, and so does a press: what was pressed
 * tells nothing more until the pointer or the focus was elsewhere. A finger points at nothing: a tap on what does nothing else shows the
 * text, and so does the first tap on what is a link in a picture.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Shown {
  text: string;
  anchor: DOMRect;
  /** Of a field: what is typed there changes what stands below it, which must be seen. */
  above: boolean;
}

const GAP = 6;
const MARGIN = 8;

const holderOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>("[data-tip]") : null;

/** What a tap does something with; `info` marks do nothing but tell. */
const acts = (target: Element): boolean =>
  target.closest("a, button:not(.info), input, select, summary, label, [aria-selected]:not(tr)") !== null;

const isWithin = ({ left, right, top, bottom }: DOMRect, { clientX: x, clientY: y }: PointerEvent): boolean =>
  x >= left && x <= right && y >= top && y <= bottom;

export function TooltipLayer() {
  const [shown, setShown] = useState<Shown | null>(null);
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let holder: HTMLElement | null = null;
    let pressed: { holder: HTMLElement; place: DOMRect } | null = null;
    let touched = false;
    const show = (event: Event): void => {
      touched = event instanceof PointerEvent ? event.pointerType === "touch" : touched;
      if (touched) return;
      const next = holderOf(event.target);
      // By its place: a press may have put another element where the pointer is.
      if (pressed !== null)
        if (event instanceof PointerEvent ? isWithin(pressed.place, event) : next === pressed.holder) return;
        else pressed = null;
      if (next !== holder) tell(next);
    };
    const tell = (next: HTMLElement | null): void => {
      holder = next;
      const text = next?.dataset.tip ?? "";
      setShown(
        next === null || text === ""
          ? null
          : { text, anchor: next.getBoundingClientRect(), above: next.matches("input") },
      );
    };
    const tap = (event: MouseEvent): void => {
      if (!touched || !(event.target instanceof Element)) return;
      const next = holderOf(event.target);
      const isNew = next !== null && next !== holder;
      const leads = event.target.closest("svg a") !== null;
      tell(isNew && (leads || !acts(event.target)) ? next : null);
      if (!isNew || !leads) return;
      event.preventDefault();
      event.stopPropagation();
    };
    const hide = (): void => {
      holder = null;
      setShown(null);
    };
    const leave = (event: PointerEvent): void => {
      if (event.pointerType !== "touch") hide();
    };
    const press = (event: PointerEvent): void => {
      touched = event.pointerType === "touch";
      if (touched) return;
      const what = holderOf(event.target);
      pressed = what === null ? null : { holder: what, place: what.getBoundingClientRect() };
      hide();
    };
    const onKey = (event: KeyboardEvent): void => {
      touched = false;
      if (event.key === "Escape") hide();
    };
    document.addEventListener("pointerover", show);
    document.addEventListener("focusin", show);
    document.addEventListener("focusout", hide);
    document.documentElement.addEventListener("pointerleave", leave);
    document.addEventListener("keydown", onKey);
    document.addEventListener("click", tap, { capture: true });
    // What a press opens must not be covered by what the hover had shown.
    document.addEventListener("pointerdown", press);
    document.addEventListener("scroll", hide, { capture: true, passive: true });
    return () => {
      document.removeEventListener("pointerover", show);
      document.removeEventListener("focusin", show);
      document.removeEventListener("focusout", hide);
      document.documentElement.removeEventListener("pointerleave", leave);
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("click", tap, { capture: true });
      document.removeEventListener("pointerdown", press);
      document.removeEventListener("scroll", hide, { capture: true });
    };
  }, []);

  // Placed once its size is known, before it is painted: below its anchor, above fields and where there is no room.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || shown === null) return;
    const { width, height } = element.getBoundingClientRect();
    const { anchor, above } = shown;
    const left = Math.min(Math.max(anchor.left, MARGIN), window.innerWidth - width - MARGIN);
    const below = anchor.bottom + GAP;
    const over = anchor.top - height - GAP;
    const top = (above && over >= MARGIN) || below + height > window.innerHeight - MARGIN ? over : below;
    element.style.left = `${Math.max(left, MARGIN)}px`;
    element.style.top = `${Math.max(top, MARGIN)}px`;
    element.style.visibility = "visible";
  }, [shown]);

  if (shown === null) return null;
  return (
    <div class="tooltip" role="tooltip" ref={box} style={{ visibility: "hidden" }}>
      {shown.text}
    </div>
  );
}

/** The (i) beside a term. Its label says all that the tooltip shows. */
export function Info({ term, text }: { term: string; text: string }) {
  return (
    <button type="button" class="info" aria-label={`About ${term}: ${text}`} data-tip={text}>
      i
    </button>
  );
}
