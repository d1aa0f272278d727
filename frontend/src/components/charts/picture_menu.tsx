/** Copies the chart of the panel around it, or saves it where the browser does not let pages copy pictures. */
import { pngOf, save, svgText } from "../../host/picture";
import { copyText } from "../../host/tensorboard";
import { Icon } from "../icon";
import { useMenu } from "../use_menu";
import { COPIED_MS, useNotice } from "../use_notice";

/** Marks the chart of a panel among its icons. */
const CHART = "svg.picture";

export function PictureMenu({ title }: { title: string }) {
  const { open, setOpen, holder, button, close, onKeyDown } = useMenu();
  const [done, setDone] = useNotice<string>(COPIED_MS);
  const chart = (): SVGSVGElement | null =>
    holder.current?.closest(".panel")?.querySelector<SVGSVGElement>(CHART) ?? null;
  const copyPng = async (svg: SVGSVGElement): Promise<string> => {
    const png = await pngOf(svg);
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
      return "Copied as PNG";
    } catch {
      save(png, `${title}.png`);
      return "Saved as PNG";
    }
  };
  const act = (what: (svg: SVGSVGElement) => Promise<string>): void => {
    const svg = chart();
    close();
    if (svg !== null) what(svg).then(setDone, () => setDone("This browser cannot do that"));
  };
  return (
    <div class="menu-holder" ref={holder} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="icon-button"
        ref={button}
        aria-expanded={open}
        aria-label={`Picture of ${title}`}
        data-tip={open ? undefined : "Copy the picture"}
        onClick={() => setOpen(!open)}
      >
        <Icon name={done === null ? "copy" : "check"} />
      </button>
      {open && (
        <div class="menu picture-menu" role="group" aria-label={`Picture of ${title}`}>
          <button type="button" class="menu-item" onClick={() => act(copyPng)}>
            Copy as PNG
          </button>
          <button
            type="button"
            class="menu-item"
            onClick={() => act(async (svg) => ((await copyText(svgText(svg))) ? "Copied as SVG" : "Not copied"))}
          >
            Copy as SVG
          </button>
          <button
            type="button"
            class="menu-item"
            onClick={() =>
              act((svg) => {
                save(new Blob([svgText(svg)], { type: "image/svg+xml" }), `${title}.svg`);
                return Promise.resolve("Saved as SVG");
              })
            }
          >
            Save as SVG
          </button>
        </div>
      )}
      <span role="status" class="visually-hidden">
        {done ?? ""}
      </span>
    </div>
  );
}
