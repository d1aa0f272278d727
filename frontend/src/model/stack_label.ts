/** Short names of stacks (`innermost < its caller < ...`): the line of the user's program first, and what tells them apart. */

const STEP = " < ";
const LINE = /\.pyx?\(\d+\): /;
/** Files of the framework, as far as a recording shortens their paths. */
const LIBRARY = /(^|\/)(site-packages|dist-packages|torch|nn|python3\.\d+)\//;

const isOfProgram = (frame: string): boolean => LINE.test(frame) && !LIBRARY.test(frame);

interface Short {
  /** The line of the program, and the op that it calls; all of a stack without such a line. */
  name: string;
  callers: string[];
}

function shorten(stack: string): Short {
  const frames = stack.split(STEP);
  const own = frames.findIndex(isOfProgram);
  if (own < 0) return { name: stack, callers: [] };
  const called = frames[own - 1];
  return {
    name: [frames[own], ...(called === undefined ? [] : [called])].join(" > "),
    callers: frames.slice(own + 1).filter(isOfProgram),
  };
}

/** A name for each stack; those that would be alike have the first callers in which they differ. */
export function stackLabels(stacks: readonly string[]): string[] {
  const shorts = stacks.map(shorten);
  return shorts.map((short) => {
    const alike = shorts.filter((other) => other !== short && other.name === short.name);
    const at = short.callers.findIndex((caller, i) => alike.some(({ callers }) => callers[i] !== caller));
    return alike.length === 0 || at < 0 ? short.name : `${short.name}, from ${short.callers[at] ?? ""}`;
  });
}
