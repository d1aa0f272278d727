/** The whole filtered table as a file, in the clipboard, or on paper; the server makes the files. */
import { useState } from "preact/hooks";

import { exportUrl, fetchExport } from "../../api/client";
import { ApiError } from "../../api/request";
import type { Column, TableRequest } from "../../api/types";
import { formatCount, formatCounted } from "../../format/number";
import { useScope } from "../../frame/scope";
import { copyText } from "../../host/tensorboard";
import { tabSeparated } from "../../model/export";
import { Icon } from "../icon";
import { useMenu } from "../use_menu";
import { useNotice } from "../use_notice";
import { printTable } from "./print_table";

interface ExportMenuProps {
  asked: Omit<TableRequest, "offset" | "limit">;
  /** Null for all that the table has. */
  columns: readonly Column[] | null;
  title: string;
  /** The number of rows, or words if the browser does not know it. */
  filtered: number | string;
}

/** Rows that the browser itself holds, to copy or print them; files have no such limit. */
const MOST_HELD = 100_000;
const TAKE_A_FILE = `More than ${formatCount(MOST_HELD)} rows: download a file`;
const MOST_PRINTED = 5_000;
/** The server refuses more: nobody reads so many pages. */
const MOST_IN_PDF = 100_000;

const FILES = [
  { format: "csv", label: "CSV" },
  { format: "xlsx", label: "Excel" },
  { format: "json", label: "JSON" },
  { format: "pdf", label: "PDF" },
] as const;

export function ExportMenu({ asked, columns, title, filtered }: ExportMenuProps) {
  const { open, setOpen, holder, button, close, onKeyDown } = useMenu();
  const [loading, setLoading] = useState(false);
  const [said, say] = useNotice<string>(2500);
  const text = loading ? "Loading …" : (said ?? "");
  const count = typeof filtered === "number" ? filtered : 0;
  const tooMany = count > MOST_HELD;
  const scope = useScope();
  const keys = columns?.map(({ key }) => key) ?? [];
  const heading = `${scope.title} · ${title}`;
  const withAll = (action: (rows: Awaited<ReturnType<typeof fetchExport>>) => Promise<string>): void => {
    close();
    setLoading(true);
    void fetchExport(exportUrl(asked, "json", keys))
      .then(action)
      .catch((error: unknown) => (error instanceof ApiError ? error.message : "This did not work."))
      .then((text) => {
        setLoading(false);
        say(text);
      });
  };
  return (
    <div class="menu-holder" ref={holder} onKeyDown={onKeyDown}>
      <button type="button" class="button" ref={button} aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="download" /> Export
      </button>
      {open && (
        <div class="menu export-menu" role="group" aria-label={`Export ${title}`}>
          <p class="muted">
            {typeof filtered === "string" ? filtered : formatCounted(filtered, "row")},{" "}
            {columns === null ? "all columns" : formatCounted(keys.length, "column")}
          </p>
          <button
            type="button"
            class="menu-item"
            disabled={tooMany}
            data-tip={tooMany ? TAKE_A_FILE : undefined}
            onClick={() =>
              withAll(async ({ columns: all, rows }) =>
                (await copyText(tabSeparated(heading, columns ?? all, rows)))
                  ? `Copied ${formatCounted(rows.length, "row")}`
                  : "The browser does not allow copying here.",
              )
            }
          >
            Copy
          </button>
          {FILES.filter(({ format }) => format !== "pdf" || count <= MOST_IN_PDF).map(({ format, label }) => (
            <a key={format} class="menu-item" href={exportUrl(asked, format, keys)} download="" onClick={close}>
              {label}
            </a>
          ))}
          <button
            type="button"
            class="menu-item"
            disabled={tooMany}
            data-tip={
              tooMany
                ? TAKE_A_FILE
                : count > MOST_PRINTED
                  ? `The first ${formatCount(MOST_PRINTED)} rows; files hold all`
                  : "Opens the print dialog"
            }
            onClick={() =>
              withAll(({ columns: all, rows }) => {
                printTable(heading, columns ?? all, rows.slice(0, MOST_PRINTED), rows.length);
                return Promise.resolve("");
              })
            }
          >
            Print
          </button>
        </div>
      )}
      <span role="status" class={text === "" ? "visually-hidden" : "export-said"}>
        {text}
      </span>
    </div>
  );
}
