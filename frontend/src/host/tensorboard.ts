/**
 * The page around us: TensorBoard's, in the same origin, or none. The only file that touches it; whatever is refused (a host that
 * frames us from another origin) falls back to our own window.
 */

function around(): Window {
  try {
    // Reading the document throws where the parent belongs to another origin.
    return typeof window.parent.document.body === "object" ? window.parent : window;
  } catch {
    return window;
  }
}

const host: Window = around();

export function readHostHash(): string {
  return host.location.hash;
}

/** The address of the whole page with another hash. */
export function hostAddress(hash: string): string {
  return `${host.location.origin}${host.location.pathname}${host.location.search}${hash}`;
}

/** Replaces the hash; `push` adds an entry to the history, so that Back returns to where the user was. */
export function writeHostHash(hash: string, push: boolean): void {
  if (hash === host.location.hash) return;
  // The whole path: our page has a base address of its own, which "#..." alone would be added to.
  const url = `${host.location.pathname}${host.location.search}${hash}`;
  try {
    if (push) host.history.pushState(host.history.state, "", url);
    else host.history.replaceState(host.history.state, "", url);
  } catch {
    // Browsers limit how often the history may change; the next change writes everything again.
  }
}

/** Calls `changed` when the user edits the address or goes back. Returns how to stop. */
export function onHostHash(changed: () => void): () => void {
  host.addEventListener("hashchange", changed);
  host.addEventListener("popstate", changed);
  return () => {
    host.removeEventListener("hashchange", changed);
    host.removeEventListener("popstate", changed);
  };
}

export type Theme = "light" | "dark";

/** Follows TensorBoard's theme (the class `dark-mode` on its body), stand-alone the system's. */
export function watchTheme(changed: (theme: Theme) => void): () => void {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const tell =
    host === window
      ? () => changed(system.matches ? "dark" : "light")
      : () => changed(host.document.body.classList.contains("dark-mode") ? "dark" : "light");
  tell();
  if (host === window) {
    system.addEventListener("change", tell);
    return () => system.removeEventListener("change", tell);
  }
  const observer = new MutationObserver(tell);
  observer.observe(host.document.body, { attributes: true, attributeFilter: ["class"] });
  return () => observer.disconnect();
}

/** Names the frame for screen readers, which TensorBoard leaves out. */
export function nameFrame(title: string): void {
  document.documentElement.lang = "en";
  try {
    if (window.frameElement !== null) (window.frameElement as HTMLElement).title = title;
  } catch {
    // A frame of another origin keeps its own name.
  }
}

/** What a tab of the browser, its history and its bookmarks call the page where it stands alone: most telling first. */
export function namePage(parts: readonly string[]): void {
  document.title = parts.filter(Boolean).join(" · ");
}

/** Whether anyone can see us. TensorBoard keeps the frame of a tab that is not shown, with a height of 0. */
export function isShown(): boolean {
  return window.innerHeight > 0 && document.visibilityState === "visible";
}

interface Message {
  type?: string;
  id?: number;
  payload?: unknown;
  error?: string | null;
  isReply?: boolean;
}

/** The messages between TensorBoard and a plugin, see tensorboard/components/experimental/plugin_util. */
export interface HostMessages {
  /** The names of all runs in TensorBoard's order; `null` where nobody answers within a second. */
  runs(): Promise<string[] | null>;
  onDataReloaded(listener: () => void): void;
  onRunsChanged(listener: () => void): void;
}

const ANSWER_WITHIN_MS = 1000;

function parse(data: unknown): Message | null {
  if (typeof data !== "string") return null;
  try {
    const message: unknown = JSON.parse(data);
    return typeof message === "object" && message !== null ? message : null;
  } catch {
    return null;
  }
}

export function connectToHost(): HostMessages {
  const listeners = new Map<string, (() => void)[]>();
  const waiting = new Map<number, (payload: unknown) => void>();
  const listen = (type: string, listener: () => void): void => {
    listeners.set(type, [...(listeners.get(type) ?? []), listener]);
  };
  if (host === window)
    return { runs: () => Promise.resolve(null), onDataReloaded: () => undefined, onRunsChanged: () => undefined };

  const { port1, port2 } = new MessageChannel();
  port1.onmessage = (event: MessageEvent<unknown>) => {
    const message = parse(event.data);
    if (message === null) return;
    if (message.isReply === true) {
      if (message.id !== undefined) waiting.get(message.id)?.(message.error ? null : message.payload);
      return;
    }
    for (const listener of listeners.get(message.type ?? "") ?? []) listener();
    // TensorBoard waits for an answer to everything that it sends.
    port1.postMessage(
      JSON.stringify({ type: message.type, id: message.id, payload: null, error: null, isReply: true }),
    );
  };
  host.postMessage("experimental.bootstrap", window.location.origin, [port2]);

  let next = 0;
  const ask = (type: string): Promise<unknown> =>
    new Promise((resolve) => {
      const id = next;
      next += 1;
      const answer = (payload: unknown): void => {
        waiting.delete(id);
        clearTimeout(timer);
        resolve(payload);
      };
      const timer = setTimeout(() => answer(null), ANSWER_WITHIN_MS);
      waiting.set(id, answer);
      port1.postMessage(JSON.stringify({ type, id, payload: null, error: null, isReply: false }));
    });
  return {
    runs: async () => {
      const payload = await ask("experimental.GetRuns");
      return Array.isArray(payload) ? payload.filter((run): run is string => typeof run === "string") : null;
    },
    onDataReloaded: (listener) => listen("experimental.DataReloaded", listener),
    onRunsChanged: (listener) => listen("experimental.RunsChanged", listener),
  };
}

/** Copies a text, also on a plain `http://` host, where there is no clipboard API. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    // Deprecated, yet the only way there is in an insecure context.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const copied = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return copied;
  }
}
