/** A page for what went wrong: what it is, in the server's words and in ours, and what to do. */
import type { ComponentChildren } from "preact";

import type { ApiError } from "../api/request";
import { Sentence } from "../components/sentence";
import { Message, Snippet } from "../components/message";
import { ViewLink } from "../components/view_link";
import { causeAndRemedy, holdsNoGpuWork, problemOf } from "../model/problems";
import { useUrl } from "./url";

interface ProblemPageProps {
  error: Pick<ApiError, "code" | "message" | "hint">;
  /** The file it is about. */
  name: string;
  /** Another title than that of the kind of failure. */
  title?: string | undefined;
  /** Where the file is, and its size. */
  place?: string;
  retry?: (() => void) | undefined;
  children?: ComponentChildren;
}

/** The Dashboard of the same profile, without any other choice of the address. */
export function DashboardLink() {
  const others = Object.keys(useUrl()).filter((key) => !["profile", "run", "capture"].includes(key));
  return (
    <ViewLink class="button button-primary" to={Object.fromEntries(others.map((key) => [key, null]))}>
      Open the Dashboard
    </ViewLink>
  );
}

export function ProblemPage({ error, name, title, place = "", retry, children }: ProblemPageProps) {
  const problem = problemOf(error.code, name === "" ? "This file" : name, error.message);
  const { cause, remedy } = causeAndRemedy(error.message, name);
  const steps = [remedy, ...(problem?.steps ?? [])].filter(Boolean);
  const look = holdsNoGpuWork(error.message)
    ? ({ tone: "calm", icon: "info" } as const)
    : ({ tone: "error", icon: "warning" } as const);
  return (
    <Message {...look} title={title ?? problem?.title ?? "Something went wrong"}>
      <p>
        {cause} {problem === null && error.hint}
      </p>
      {problem !== null && (
        <>
          {problem.meaning !== "" && <p>{problem.meaning}</p>}
          {steps.length > 0 && (
            <ul class="steps" aria-label="What to do">
              {steps.map((step) => (
                <li key={step}>
                  <Sentence text={step} />
                </li>
              ))}
            </ul>
          )}
          {problem.command !== undefined && <Snippet what="the command" text={problem.command} />}
        </>
      )}
      {place !== "" && <p class="muted">{place}</p>}
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
