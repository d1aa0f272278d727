/**
 * Loading our page again: browsers keep a module that could not be fetched as failed, and never ask for it again. What is shown is in
 * the address, so nothing is lost.
 */
const MARK = "dlprof.reloaded";

/** Loads the page again, but only once until `allowReload`: what fails anew must not do so in turns. */
export function reloadOnce(): void {
  try {
    if (sessionStorage.getItem(MARK) !== null) return;
    sessionStorage.setItem(MARK, "yes");
  } catch {
    // Without storage, a second reload could not be distinguished from the first.
    return;
  }
  window.location.reload();
}

/** The server was away, or all is well: `reloadOnce` may act anew. */
export function allowReload(): void {
  try {
    sessionStorage.removeItem(MARK);
  } catch {
    // Then it has kept nothing either.
  }
}
