/** What each kind of failure means and what to do about it, by the server's error code. */

export interface Problem {
  title: string;
  /** What it means, in a sentence or two; empty where the server's words say it. */
  meaning: string;
  /** What the user can do, step by step. */
  steps: readonly string[];
  /** A command that helps, if there is one. */
  command?: string;
}

const RELEASES = "https://pypi.org/project/tensorboard-plugin-dlprof/";

/** Whether what the server says of a file names the remedy, as its messages do wherever they know the cause. */
const namesRemedy = (message: string): boolean => /;|\bagain\b/.test(message.replace(/Formats tried: .*/, ""));

/** Whether a file was read, and nothing of a GPU is in it: it is not damaged. */
export const holdsNoGpuWork = (message: string): boolean =>
  /\bholds (no GPU work|no events|host events only|a TPU profile)\b/.test(message);

/** What the server says of a file, whose name stands above it, in two: what is wrong, and what to do, where it knows that. */
export function causeAndRemedy(message: string, name: string): { cause: string; remedy: string } {
  const own = name.split("/").at(-1) ?? "";
  const text = own !== "" && message.startsWith(`${own} `) ? `It${message.slice(own.length)}` : message;
  if (!namesRemedy(message) || text === message) return { cause: text, remedy: "" };
  const [cause = "", remedy = ""] = text.split(/; (?=[^;]*$)|(?<=\.) (?=\w[^.]*\bagain\.$)/);
  return { cause: cause.replace(/\.?$/, "."), remedy: remedy.charAt(0).toUpperCase() + remedy.slice(1) };
}

/** The page of a failure of a profile or of a link; `name` is the file as the list calls it, `message` what the server says. */
export function problemOf(code: string, name: string, message: string): Problem | null {
  switch (code) {
    case "not_found":
      return {
        title: "Not found",
        meaning: "The profile, its file, or the part of it that the address names is not there, or no longer there.",
        steps: [
          "Open the Dashboard without the link's choices, or select another profile above.",
          "Check that the file is still there and may be read, and refresh: the folder is searched again.",
        ],
      };
    case "not_a_database":
      return {
        title: `${name} is not a DLProf database`,
        meaning: "It is not an SQLite file, not a DLProf database, or no aggregation was completed in it.",
        steps: [
          "Nsight Systems: export the report with nsys export --type sqlite; its file opens as it is.",
          "DLProf: let the run end by itself; a database of an interrupted run has no results.",
          "Or aggregate the recording again and open the new database.",
        ],
        command: "dlprof aggregate dlprof_dldb.sqlite",
      };
    case "too_old":
      return {
        title: `${name} was written by a DLProf that is too old`,
        meaning: "Databases of DLProf 1.3 to 1.8 open here. Older ones lack tables that every page needs.",
        steps: [
          "Run DLProf 1.3 or newer on the same Nsight Systems report.",
          "Or export the report with nsys export --type sqlite and open that file: it is imported as it is.",
        ],
        command: "nsys export --type sqlite -o report.sqlite report.qdrep",
      };
    case "too_new":
      return {
        title: `${name} was written by something newer`,
        meaning: "Its format is newer than this version knows, so its numbers could be misread.",
        steps: [`Update the plugin and start again. Releases: ${RELEASES}`],
        command: "pip install --upgrade tensorboard-plugin-dlprof",
      };
    case "unreadable":
      return {
        title: holdsNoGpuWork(message) ? `No GPU work in ${name}` : `${name} cannot be read`,
        meaning: "",
        steps: namesRemedy(message)
          ? []
          : [
              "If it was cut off while it was written or copied: copy or export it again.",
              "If it was made from something else: open the original, the trace or the report.",
              "If it holds nothing of a GPU: record it again where a GPU computes.",
            ],
      };
    case "bad_parameter":
      return {
        title: "The address is not understood",
        meaning: "Something after the # in this address is misspelt or unknown.",
        steps: ["Open the Dashboard, without the choices in the address.", "Ask for a new link."],
      };
    case "forbidden":
      return {
        title: "This server does not allow that",
        meaning: "It was started with an option that forbids it, or the request came from another site.",
        steps: ["Ask whoever runs the server, or start one of your own on the same log directory."],
      };
    case "foreign_host":
      return {
        title: "This server does not know the name in the address",
        meaning:
          "It listens on its own machine only. A web page of another site could otherwise point its own name at this server and read your profiles, so the server answers only under names that were allowed.",
        steps: [
          "Use localhost or the IP address in place of the name, or",
          "allow the name where the server is started: --dlprof_allowed_hosts of TensorBoard, --allowed-hosts of dlprofviewer, or the environment variable DLPROF_ALLOWED_HOSTS in a notebook.",
        ],
      };
    case "too_large":
      return {
        title: "Too large",
        meaning: "The answer would not fit.",
        steps: ["Narrow it down with a filter, or download CSV, which has no limit."],
      };
    case "busy":
      return {
        title: "The server is busy",
        meaning: "It is busy with as many requests as it can handle at once.",
        steps: ["Try again in a moment."],
      };
    case "unreachable":
      return {
        title: "The server does not answer",
        meaning: "It was stopped, is restarting, or the connection to it is gone (an SSH tunnel, for instance).",
        steps: ["Check that it is still running: this page tries again by itself, and comes back with it."],
      };
    default:
      return null;
  }
}
