/**
 * Short names for kernels. A demangled C++ name can fill half a screen; what people look for is the function, and for a
 * wrapper (CUTLASS's `Kernel2`, PyTorch's `elementwise_kernel`) what it wraps.
 */

/** Functions whose own name says little: the first type inside names the work. */
const WRAPPER =
  /^(?:kernel\d*|device_kernel|.*(?:elementwise|reduce|unrolled|foreach|multi_tensor_apply)\w*|.*_kernel_impl)$/i;

/** CUTLASS's, of which nothing but what they wrap is a name. */
const NAMELESS = /^(?:Kernel\d*|device_kernel)$/;

/** Types that say nothing about the work. */
const PLAIN = new Set(
  "void bool char short int long float double half unsigned signed size_t const true false enum __half __nv_bfloat16 Array array tuple pair".split(
    " ",
  ),
);

const isWord = (char: string | undefined): boolean => char !== undefined && /[\w$]/.test(char);

/** The index just behind the bracket that closes the one at `open`; the end of the text where none does. */
function behindClosing(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i += 1) {
    const char = text.charAt(i);
    if ("<({[".includes(char)) depth += 1;
    else if (")}]".includes(char) || (char === ">" && text.charAt(i - 1) !== "-")) {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return text.length;
}

/** The function part before its parameters, and the text of its template arguments. */
function functionOf(name: string): { base: string; template: string } {
  let base = "";
  let template = "";
  let i = 0;
  while (i < name.length) {
    const char = name.charAt(i);
    if (char === "<") {
      const end = behindClosing(name, i);
      template = name.slice(i + 1, end - 1);
      i = end;
    } else if (char === "(") {
      const end = behindClosing(name, i);
      // "(anonymous namespace)::" is part of the path; anything else opens the parameters.
      if (!name.startsWith("::", end)) break;
      i = end;
    } else if (char === ":" && name.startsWith("::", i)) {
      base = "";
      template = "";
      i += 2;
    } else if (isWord(char)) {
      if (template !== "" || (i > 0 && name.charAt(i - 1) === " ")) base = "";
      template = "";
      base += char;
      i += 1;
    } else i += 1;
  }
  return { base, template };
}

/** The first name in template arguments that says something, without its namespaces. */
function firstMeaningful(template: string): string {
  for (const match of template.matchAll(/[A-Za-z_$][\w$]*(?:::[A-Za-z_$][\w$]*)*/g)) {
    const word = match[0].split("::").at(-1) ?? "";
    if (!PLAIN.has(word) && word.length > 2) return word;
  }
  return "";
}

/** AMD's library of matrix multiplications writes hundreds of parameters into a name: layout and types, tile and instruction tell it apart. */
const TENSILE = /^(Cijk(?:_[A-Z][a-z]+){2}_[A-Za-z0-9]+)_.*?(MT\d+x\d+x\d+)(?:_.*?(MI\d+x\d+x\d+))?/;

/** cuDNN's and cuBLAS's generated convolutions and multiplications: the types of the operands and the tile. */
const XMMA = /^(sm\d+_xmma_[a-z_]+)_((?:[a-z]+\d+){2})_\w*?tilesize(\d+x\d+x\d+)/;

/** Names within a mangled symbol stand behind their number of letters; literals, such as `Li128E`, are none. */
function mangledNames(symbol: string): { name: string; next: string }[] {
  const names: { name: string; next: string }[] = [];
  for (let i = "_ZN".length; i < symbol.length;) {
    const literal = /^L[a-z]\d+E/.exec(symbol.slice(i, i + 24))?.[0] ?? "";
    const digits = /^[1-9]\d*(?=[A-Za-z_])/.exec(symbol.slice(i, i + 5))?.[0] ?? "";
    const end = i + digits.length + Number(digits);
    if (literal === "" && digits !== "" && end <= symbol.length) {
      names.push({ name: symbol.slice(i + digits.length, end), next: symbol.charAt(end) });
      i = end;
    } else i += Math.max(literal.length, 1);
  }
  return names;
}

/** `_ZN7cutlass6KernelINS_4gemm6DeviceE…` as C++ writes it, as far as a short name needs it: the function, and the first name of its arguments. */
function demangled(symbol: string): string {
  if (!symbol.startsWith("_ZN")) return symbol;
  const names = mangledNames(symbol);
  const at = names.findIndex(({ next }) => !/\d/.test(next));
  const own = names[at];
  if (own === undefined) return symbol;
  if (own.next !== "I") return `${own.name}()`;
  const inner = names.slice(at + 1).find(({ next }) => !/\d/.test(next));
  return `${own.name}<${inner?.name ?? ""}>`;
}

/** `void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, ...>(...)` -> `vectorized_elementwise_kernel ‹AddFunctor›`. */
export function shortKernelName(full: string): string {
  const name = plainName(demangled(full));
  const [, problem, tile, instruction] = TENSILE.exec(name) ?? [];
  // The tile last, where a name that is cut keeps it: it differs most.
  if (problem !== undefined) return `${problem} ‹${[instruction, tile].filter(Boolean).join(" ")}›`;
  const [, function_, types, tilesize] = XMMA.exec(name) ?? [];
  if (function_ !== undefined) return `${function_} ‹${types} ${tilesize}›`;
  if (!/<|::|\w\(/.test(name)) return name; // no C++: "Memcpy HtoD (Pageable -> Device)"
  const { base, template } = functionOf(name);
  if (base === "") return name;
  if (!WRAPPER.test(base)) return base;
  const inner = firstMeaningful(template);
  if (inner !== "" && NAMELESS.test(base)) return inner;
  return inner === "" ? base : `${base} ‹${inner}›`;
}

/** The words of a name: of C++ its identifiers and numbers, of a generated name what stands between underscores. */
const wordsOf = (name: string): string[] =>
  name.includes("<") ? name.split(/\W+/) : name.split("_").filter((word) => /[A-Za-z]/.test(word));

/** Letters at the end of a name that stay where it is cut: there are sizes and layouts, in which alike kernels differ. */
export const TAIL = 14;

/** What is seen of a name where there is room for so many letters. */
const seenOf = (short: string, letters: number): string =>
  short.length <= letters ? short : `${short.slice(0, Math.max(letters - TAIL, 0))}…${short.slice(-TAIL)}`;

/** By name, where others of these look the same in so many letters: its first word that none of the others has, if there is one. */
export function wordsApart(names: Iterable<string>, letters = Infinity): Map<string, string> {
  const alike = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const seen = seenOf(shortKernelName(name), letters);
    alike.set(seen, [...(alike.get(seen) ?? []), name]);
  }
  const apart = new Map<string, string>();
  for (const group of alike.values()) {
    if (group.length === 1) continue;
    const words = group.map((name) => new Set(wordsOf(name)));
    const counts = new Map<string, number>();
    for (const word of words.flatMap((own) => [...own])) counts.set(word, (counts.get(word) ?? 0) + 1);
    group.forEach((name, at) => {
      const own = [...(words[at] ?? [])].find((word) => word !== "" && counts.get(word) === 1);
      if (own !== undefined) apart.set(name, own);
    });
  }
  return apart;
}

/** As many letters in common are what most names of a list begin with, and say nothing of one. */
const IN_COMMON = 8;
/** Fewer letters say nothing either: the ends of matrix multiplications are `nn` and `tn`. */
const LEFT = 8;

/** How many letters two names have in common at their beginning, up to where a word ends, and enough of the one is left. */
function inCommon(one: string, other: string): number {
  let at = 0;
  while (at < one.length - LEFT && one[at] === other[at]) at += 1;
  while (at > 0 && /[A-Za-z0-9]/.test(one.charAt(at - 1))) at -= 1;
  return at;
}

/** Of a generated name as shown, what it does, on which type, and its tile: `…dgrad f16 128x128x64`. Which GPU it was generated for says nothing of one. */
const kindAndTile = (name: string): string =>
  name.replace(
    /^sm\d+_xmma_([a-z0-9]+)\w* ‹([a-z]+\d+)\S* (\S+)›$/,
    (_, kind: string, type: string, tile: string) => `…${kind} ${type} ${tile}`,
  );

/**
 * Names of a list where there is little room: without what one has in common with another, `…MT128x192x64`. Of a name
 * that departs from some sooner than from others, the word in which it does so first stays; generated names are all cut
 * alike, to what they do, their type and tile, where that tells them apart.
 */
export function beginningsApart(names: readonly string[]): ReadonlyMap<string, string> {
  const distinct = [...new Set(names)];
  const alike = new Map<string, number>();
  for (const kind of distinct.map(kindAndTile)) alike.set(kind, (alike.get(kind) ?? 0) + 1);
  return new Map(
    distinct.map((name) => {
      const commons = distinct.filter((other) => other !== name).map((other) => inCommon(name, other));
      const departures = commons.filter((common) => common >= IN_COMMON);
      if (departures.length === 0) return [name, name];
      const kind = kindAndTile(name);
      if (kind !== name && alike.get(kind) === 1) return [name, kind];
      const [first, last] = [Math.min(...departures), Math.max(...departures)];
      const word = first < last ? `…${/^[A-Za-z0-9]*/.exec(name.slice(first))?.[0] ?? ""}` : "";
      const end = name.slice(last);
      // What is left of brackets says nothing.
      return [name, `${word}…${end.includes("‹") ? end : end.replace(/›$/, "")}`];
    }),
  );
}

/** The kernels of a cell, the one with the most time first. */
export const kernelsOf = (cell: string): string[] => cell.split(" + ");

export const shortFirstKernel = (cell: string): string => shortKernelName(kernelsOf(cell)[0] ?? "");

/** DLProf's name of a kernel, copy or call without an op begins with it. */
export const UNASSOCIATED = "unassociated_";

/** What is shown in its place; an ordinary space at the end of a box would not be. */
export const NO_OP = "no op:\u00a0";

/** What is shown for `/`, the row of all work. */
export const WHOLE = "All work";

/** The name of an op where there is little room: of a kernel without an op, that of the kernel. */
export const labelOf = (name: string): string =>
  name === "/"
    ? WHOLE
    : name.startsWith(UNASSOCIATED)
      ? shortKernelName(name.slice(UNASSOCIATED.length))
      : plainName(name);

/**
 * A name without what says nothing: of a call the version that Nsight Systems puts behind it, `cudaLaunchKernel_v7000`, and of ranges
 * what lets them stand out in a list, `## forward ##`.
 */
export const plainName = (name: string): string => name.replace(CALL_VERSION, "$1").replace(DECORATED, "$2");

const CALL_VERSION = /^(cu(?:da)?[A-Z]\w*)_v\d{4,}$/;
const DECORATED = /(?<=^|\/)([#=*~-]{2,}) +([^/ ]+(?: +[^/ ]+)*?) +\1(?=\/|$)/g;

/** The same, cut in the middle where it has more letters than there is room for: siblings begin alike. */
export function cutLabel(name: string, letters: number): string {
  const label = labelOf(name);
  if (label.length <= letters) return label;
  const end = letters < 16 ? 0 : Math.floor((letters - 1) / 3);
  return `${label.slice(0, Math.max(letters - 1 - end, 1))}…${end === 0 ? "" : label.slice(-end)}`;
}

/** The last part of an op's path stands out; the parts before it are its place in the model. */
export function splitPath(path: string): { place: string; name: string } {
  // DLProf's name of a kernel without an op: what is common to all of them gives way.
  if (path.startsWith(UNASSOCIATED)) return { place: NO_OP, name: labelOf(path) };
  const trimmed = path.replace(/\/+$/, "");
  const at = trimmed.lastIndexOf("/");
  // The root is the place of all that have no other, and says nothing.
  return at <= 0
    ? { place: "", name: plainName(trimmed.slice(at + 1)) || path }
    : { place: plainName(trimmed.slice(0, at + 1)), name: plainName(trimmed.slice(at + 1)) };
}

/** An op's id, such as `BATCH_NORM_102`: the number at its end distinguishes it from similar ops. */
export function splitId(id: string): { kind: string; number: string } {
  const at = id.search(/_\d+$/);
  return at < 0 ? { kind: id, number: "" } : { kind: id.slice(0, at), number: id.slice(at) };
}
