/** A message in place of content that is not there (yet): why, and what to do about it. */
import type { ComponentChildren } from "preact";

import type { ApiError } from "../api/request";
import { CopyButton } from "./copy_button";
import { Icon, type IconName } from "./icon";

interface MessageProps {
  icon?: IconName;
  tone?: "calm" | "error";
  title: string;
  children?: ComponentChildren;
}

export function Message({ icon = "info", tone = "calm", title, children }: MessageProps) {
  return (
    <div class={`message message-${tone}`} role={tone === "error" ? "alert" : "status"}>
      <Icon name={icon} />
      <div class="message-text">
        <h2>{title}</h2>
        {children}
      </div>
    </div>
  );
}

interface LoadingProps {
  what: string;
  /** Of what is coming, where it is known, px: what stands below then stays where it is. */
  height?: number | undefined;
}

/** Grey blocks in the shape of what is coming, and a text for screen readers. */
export function Loading({ what, height }: LoadingProps) {
  if (height !== undefined)
    return (
      <div class="loading" role="status">
        <span class="visually-hidden">Loading {what}</span>
        <div class="skeleton" style={{ height: `${height}px` }} />
      </div>
    );
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading {what}</span>
      <div class="skeleton skeleton-line" />
      <div class="skeleton-row">
        <div class="skeleton" />
        <div class="skeleton" />
        <div class="skeleton" />
      </div>
      <div class="skeleton skeleton-tall" />
    </div>
  );
}

interface ErrorBoxProps {
  error: ApiError;
  retry?: () => void;
  /** Other ways out. */
  children?: ComponentChildren;
}

export function ErrorBox({ error, retry, children }: ErrorBoxProps) {
  return (
    <Message tone="error" icon="warning" title={error.message}>
      {error.hint !== "" && <p>{error.hint}</p>}
      {retry !== undefined && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
      {children}
    </Message>
  );
}

/** Lines to paste somewhere, with a button that copies them. */
export function Snippet({ text, what }: { text: string; what: string }) {
  return (
    <div class="snippet">
      <pre tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
