import { useContext, useState } from "preact/hooks";

import type { Cell, Column, Row } from "../../api/types";
import { exactNumber, formatCalls, formatCount, formatNumber } from "../../format/number";
import { formatShare } from "../../format/share";
import { formatSize } from "../../format/size";
import { formatDuration, momentInUnit, readableAndExact } from "../../format/time";
import { inUnit } from "../../format/unit";
import { categoryColour } from "../../model/memory_categories";
import { arrowOf, directionOf, isSmall, signedAmount, signedPercent } from "../../model/change";
import { NO_KERNELS } from "../../model/families";
import { kernelsOf, shortFirstKernel, TAIL, UNASSOCIATED } from "../../model/kernel_name";
import { gpuTimeParts } from "../../model/kernel_time";
import { partKinds } from "../../model/parts";
import { precisionLabel } from "../../model/precisions";
import { knownForTip, PART, partlyRated } from "../../model/rated";
import { colourOf } from "../../model/resources";
import { isMoment, type Scale } from "../../model/time_columns";
import { CopyButton } from "../copy_button";
import { Calls, OpId, OpPath, Size, YesNo } from "../value";
import { CommunicationContext } from "./communication";

interface TableCellProps {
  column: Column;
  row: Row;
  scale: Scale | undefined;
  /** The column whose share is shown beside this time. */
  meter?: string | undefined;
  /** Whether other rows on the page have the same path but belong to another op. */
  ambiguous?: boolean;
  /** What stands before the name of a path, or behind that of a kernel, as it is told from those of other rows. */
  place?: string | undefined;
  /** What a kernel is called where there is little room. */
  shown?: string | undefined;
  /** The width of the cell in CSS pixels. */
  room?: number;
}

/** Left and right of what stands in a cell, in CSS pixels, and what letters may be wider beside each other. */
const CELL_PADDING = 22;

/** What a cell of a width leaves for its text, in CSS pixels. */
export const roomOf = (width: number): number => width - CELL_PADDING;

/** Where a column says itself when its cells are empty, that is the reason. */
const whyEmpty = ({ description }: Column): string =>
  /\bempty\b/i.test(description) ? description : "none, or not recorded";

const Nothing = ({ why }: { why: string }) => (
  <span class="dash" data-tip={why}>
    –
  </span>
);

/** Columns of a comparison of kernel time. */
const COMPARED: ReadonlySet<string> = new Set(["a_ns", "b_ns", "change_ns"]);

const ONLY_COPIES = "Its GPU time is that of copies and memsets, which are compared as a part of the iteration.";

/** One cell by the type of its column. */
export function TableCell(props: TableCellProps) {
  const { column, row, scale, meter, ambiguous = false, place, shown, room = Infinity } = props;
  const value = row[column.key] ?? null;
  if (value === null || value === "") {
    if (column.type === "boolean") return <YesNo value={null} />;
    return <Nothing why={COMPARED.has(column.key) && row.family === NO_KERNELS ? ONLY_COPIES : whyEmpty(column)} />;
  }
  if (CHANGES.has(column.key)) return <ChangeCell column={column} row={row} value={Number(value)} scale={scale} />;
  switch (column.type) {
    case "duration_ns":
      if (meter !== undefined)
        return <MeterCell ns={Number(value)} scale={scale} fraction={row[meter] ?? null} column={column} row={row} />;
      return (
        <TimeCell
          ns={Number(value)}
          scale={scale}
          moment={isMoment(column.key)}
          rated={column.key === "gain_ns" ? partlyRated(row) : null}
        />
      );
    case "fraction":
      return <span class="number">{formatShare(Number(value))}</span>;
    case "integer":
    case "number":
      if (OWN_CALLS.has(column.key)) return <Calls value={Number(value)} />;
      if (CALLS.has(column.key)) return <span class="number">{formatCalls(Number(value))}</span>;
      if (column.type === "integer") return <span class="number">{formatCount(Number(value))}</span>;
      return (
        <span class="number" data-tip={exactNumber(Number(value))}>
          {formatNumber(Number(value))}
        </span>
      );
    case "bytes":
      return <Size bytes={Number(value)} unit={scale?.unit} />;
    case "boolean":
      return <YesNo value={Boolean(value)} />;
    case "kernel_name":
      return <KernelName name={String(value)} full={fullName(column, row)} apart={place ?? ""} shown={shown} />;
    case "path":
      return ambiguous ? (
        <OpPath path={String(value)} id={opId(row)} room={roomOf(room)} />
      ) : (
        <OpPath path={String(value)} room={roomOf(room)} shown={place} />
      );
    case "long_text":
      return <LongText key={String(value)} text={String(value)} />;
    case "text": {
      if (column.key === "op_id") return <OpId id={String(value)} />;
      if (column.key === "op_type" && row.no_op === true)
        return <OpPath path={UNASSOCIATED + String(value)} room={roomOf(room)} />;
      const text = shownText(column.key, String(value));
      const colour = swatchOf(column.key, text);
      return (
        <span class="clip" data-tip={text}>
          {colour !== undefined && (
            <>
              <span class="swatch" style={{ background: colour }} />{" "}
            </>
          )}
          {text}
        </span>
      );
    }
  }
}

/** Of the causes of idle time, by name, as on the timeline. */
const COLOURS = new Map(partKinds("").map(({ label, colour }) => [label, colour]));

/** The colour that pictures have for what a cell names. */
const swatchOf = (key: string, text: string): string | undefined =>
  key === "cause" ? COLOURS.get(text) : key === "category" ? categoryColour(text) : undefined;

/** Columns of changes, which have a sign, an arrow and a colour. */
export const CHANGES: ReadonlySet<string> = new Set(["change_ns", "change_fraction", "work_ns", "speed_ns"]);

/** Whether a row's change is noise, or too small to be called anything else where it was not tested. */
function isNoise({ told, a_ns: a, change_ns: change }: Row): boolean {
  if (told === "no") return true;
  return told !== "yes" && typeof a === "number" && typeof change === "number" && isSmall(a, change);
}

interface ChangeCellProps {
  column: Column;
  row: Row;
  value: number;
  scale: Scale | undefined;
}

function ChangeCell({ column, row, value, scale }: ChangeCellProps) {
  // Of what was not tested, nobody knows whether it is better or worse; the arrow only tells the sign.
  const coloured = !isNoise(row) && row.told !== "not tested";
  const text =
    column.type === "fraction"
      ? signedPercent(value)
      : signedAmount(value, scale === undefined ? formatCount(value) : inUnit(value, scale.unit));
  return (
    <span
      class={coloured ? `number change-${directionOf(value)}` : "number"}
      data-tip={column.type === "fraction" ? "" : readableAndExact(value)}
    >
      {column.key === "change_ns" && `${arrowOf(value)} `}
      {text || "0"}
    </span>
  );
}

/** Columns of calls and launches by iteration, which are whole but for ops that not every iteration calls. */
const OWN_CALLS: ReadonlySet<string> = new Set(["calls", "kernel_calls", "kernels"]);
/** The same of two profiles, whose iterations are others. */
const CALLS: ReadonlySet<string> = new Set(["a_calls", "b_calls", "a_launches", "b_launches"]);

/** Columns that hold lengths of products. */
const SIZES: ReadonlySet<string> = new Set(["dimension", "padded_shape", "size"]);

const shownText = (key: string, text: string): string =>
  SIZES.has(key) ? formatSize(text) : key === "precision" ? precisionLabel(text) : text;

const opId = ({ op_id: id }: Row): string => (typeof id === "string" ? id : "");

/** What copying a cell copies: the value itself, times as whole nanoseconds, names in full. */
export function copiedText(column: Column, row: Row): string {
  const value: Cell = row[column.key] ?? null;
  if (value === null) return "";
  if (column.type === "kernel_name") return fullName(column, row);
  if (column.type === "boolean") return value === true ? "yes" : "no";
  return String(value);
}

/** A row may carry the full name of its kernel beside the short one. */
function fullName(column: Column, row: Row): string {
  const full = column.key === "name" ? row.long_name : undefined;
  return typeof full === "string" && full !== "" ? full : String(row[column.key] ?? "");
}

/** Whether bars say something of its values: a moment is no length, and a change has a sign. */
export const hasBars = ({ key }: Column): boolean => !CHANGES.has(key) && !isMoment(key);

/** The column that says what part of the whole a row is. */
export const isShare = ({ key }: Column): boolean => key === "gpu_time_fraction" || key === "held_fraction";

/** What a bar that fills its cell stands for: the largest of the rows, or all of what the share is of, such as a peak. */
export const wholeOfBars = (column: Column, rows: readonly Row[], scale: Scale | undefined): number =>
  isShare(column)
    ? Math.max(...rows.map((row) => Number(row[column.key] ?? 0)), 0)
    : column.type === "fraction"
      ? 1
      : (scale?.largest ?? 0);

/** How much of its cell the bar below a value fills, from 0 to 1. */
export function barOf(column: Column, row: Row, whole: number): number {
  const value = Math.max(Number(row[column.key] ?? 0), 0);
  return whole > 0 ? Math.min(value / whole, 1) : 0;
}

interface TimeCellProps {
  ns: number;
  scale: Scale | undefined;
  moment: boolean;
  /** Of a gain that more may be added to: of how much of the kernel time it is. */
  rated: number | null;
}

function TimeCell({ ns, scale, moment, rated }: TimeCellProps) {
  if (scale === undefined) return <span class="number">{formatCount(ns)} ns</span>;
  return (
    <span class="number" data-tip={readableAndExact(ns) + (rated === null ? "" : `\n${knownForTip(rated)}`)}>
      {rated !== null && <span class="muted">{PART} </span>}
      {moment ? momentInUnit(ns, scale.unit) : inUnit(ns, scale.unit)}
    </span>
  );
}

/** Value, meter and percentage of an iteration in one cell. */
function MeterCell({
  ns,
  scale,
  fraction,
  column,
  row,
}: {
  ns: number;
  scale: Scale | undefined;
  fraction: Cell;
  column: Column;
  row: Row;
}) {
  const share = fraction === null ? null : Number(fraction);
  const communication = useContext(CommunicationContext).get(Number(row.iteration));
  return (
    <span
      class="meter-cell"
      data-tip={`${column.label}: ${readableAndExact(ns)}\n${formatShare(share)} of the iteration's ${formatDuration(Number(row.duration_ns))}`}
    >
      <span class="number">{scale === undefined ? formatCount(ns) : inUnit(ns, scale.unit)}</span>
      <span class="meter">
        {gpuTimeParts(column.key, row, communication).map(([part, part_ns]) => (
          <span
            key={part}
            style={{ width: `${Math.min(share ?? 0, 1) * (part_ns / ns) * 100}%`, background: colourOf(part) }}
          />
        ))}
      </span>
      <span class="number meter-share">{formatShare(share)}</span>
    </span>
  );
}

/** The width of a letter of a kernel's name, and what the button beside it takes. */
const LETTER = 7.3;
const BUTTON = 24;

/** How many letters of a kernel's name are seen in a column. */
export const lettersIn = (width: number): number => Math.floor((roomOf(width) - BUTTON) / LETTER);

interface KernelNameProps {
  name: string;
  full: string;
  apart: string;
  shown?: string | undefined;
}

function KernelName({ name, full, apart, shown = shortFirstKernel(name) }: KernelNameProps) {
  const others = kernelsOf(name).length - 1;
  // Of several, a word of one of the others would be read as one of the first.
  const isApart = apart !== "" && others === 0;
  // Where a word tells a name apart, its end need not.
  const end = Math.max(shown.length - TAIL, 0);
  // No part of a word begins the tail, where one ends in it.
  const word = shown.indexOf(" ", end);
  const cut = isApart ? shown.length : word < 0 ? end : word + 1;
  return (
    <span class="kernel-cell">
      <span class="kernel-name cut-within" data-tip={full}>
        <span class="clip">{shown.slice(0, cut)}</span>
        <span>{shown.slice(cut)}</span>
      </span>
      {isApart && <span class="muted clip kernel-name apart">{apart}</span>}
      {others > 0 && <span class="muted nowrap">+{others} more</span>}
      <CopyButton key={full} text={full} what="the full name" walk={false} />
    </span>
  );
}

const SHORT = 100;

function LongText({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  const long = text.length > SHORT;
  const oneLine = text.slice(0, SHORT).replace(/\s+/g, " ").trim();
  if (!long)
    return (
      <span class="clip" data-tip={text}>
        {oneLine}
      </span>
    );
  return (
    <span class={open ? "long-text" : "long-text folded"}>
      <span>{open ? text : `${oneLine}…`}</span>{" "}
      <button
        type="button"
        class="link-button"
        aria-expanded={open}
        onClick={(event) => {
          event.stopPropagation();
          setOpen(!open);
        }}
      >
        {open ? "See less" : "See more"}
      </button>
    </span>
  );
}
