/** Hands a window over to Perfetto: its page is opened by the click, and given the trace inside of the browser. */
import { fetchTrace } from "../../api/client";
import type { View } from "../../model/timeline_link";

const PING_MS = 50;
const PATIENCE_MS = 60_000;

/** Resolves once the trace is handed over. Must be called by a click, or the browser blocks the window. */
export async function openInPerfetto(url: string, profile: string, view: View, title: string): Promise<void> {
  const opened = window.open(url);
  if (opened === null) throw new Error("The browser blocked the window. Allow pop-ups for this page.");
  const origin = new URL(url, window.location.href).origin;
  const [buffer] = await Promise.all([fetchTrace(profile, view), answered(opened, origin)]);
  opened.postMessage({ perfetto: { buffer, title, fileName: "trace.json", keepApiOpen: true } }, origin, [buffer]);
}

function answered(opened: Window, origin: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => opened.postMessage("PING", origin), PING_MS);
    const limit = setTimeout(() => end(new Error("Perfetto does not answer. Is its page reachable?")), PATIENCE_MS);
    const onMessage = (event: MessageEvent): void => {
      if (event.source === opened && event.origin === origin && event.data === "PONG") end(null);
    };
    const end = (error: Error | null): void => {
      clearInterval(timer);
      clearTimeout(limit);
      window.removeEventListener("message", onMessage);
      if (error === null) resolve();
      else reject(error);
    };
    window.addEventListener("message", onMessage);
  });
}
