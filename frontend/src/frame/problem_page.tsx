/** A page for what went wrong: what it is, in the server's words and in ours, and what to do. */
import type { ComponentChildren } from "preact";

import type { ApiError } from "../api/client";
import { Linked } from "../components/external_link";
import { Message, Snippet } from "../components/message";
import { withValues } from "../model/url_state";
import { problemOf } from "../model/problems";
import { currentUrl, goTo } from "./url";

interface ProblemPageProps {
  error: Pick<ApiError, "code" | "message" | "hint">;
  /** The file it is about. */
  name: string;
  /** Another title than that of the kind of failure. */
  title?: string | undefined;
  retry?: (() => void) | undefined;
  children?: ComponentChildren;
}

/** Forgets all choices of the address but the profile. */
export function toDashboard(): void {
  const { profile, run, capture } = currentUrl();
  goTo(withValues({}, { profile: profile ?? null, run: run ?? null, capture: capture ?? null }), true);
}

export function ProblemPage({ error, name, title, retry, children }: ProblemPageProps) {
  const problem = problemOf(error.code, name === "" ? "This file" : name);
  return (
    <Message tone="error" icon="warning" title={title ?? problem?.title ?? "Something went wrong"}>
      <p>
        <strong>{error.message}</strong> {error.hint}
      </p>
      {problem !== null && (
        <>
          <p>{problem.meaning}</p>
          <ul class="steps" aria-label="What to do">
            {problem.steps.map((step) => (
              <li key={step}>
                <Linked text={step} />
              </li>
            ))}
          </ul>
          {problem.command !== undefined && <Snippet what="the command" text={problem.command} />}
        </>
      )}
      <div class="message-buttons">
        {retry !== undefined && (
          <button type="button" class="button" onClick={retry}>
            Try again
          </button>
        )}
        {children}
      </div>
    </Message>
  );
}
