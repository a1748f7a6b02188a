import { signal } from "@preact/signals";
import { messageOf } from "../../kernel/message-of.ts";

export type Notice = {
  readonly id: number;
  readonly kind: "error" | "done";
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
};

const SHOWN_MS = 6_000;
/** A notice with an action is shown longer. */
const SHOWN_WITH_ACTION_MS = 15_000;

export const notices = signal<readonly Notice[]>([]);
let lastId = 0;

/** Shows a notice, and returns its id. */
export function notify(kind: Notice["kind"], text: string, action?: Notice["action"]): number {
  lastId += 1;
  const id = lastId;
  notices.value = [...notices.value.slice(-3), { id, kind, text, action }];
  // An error stays until it is dismissed: it says what to do.
  if (kind === "done") setTimeout(() => dismiss(id), action === undefined ? SHOWN_MS : SHOWN_WITH_ACTION_MS);
  return id;
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Runs an action of the user: its error is shown, and `done` says what it did. */
export async function attempt<T>(action: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const result = await action();
    if (done !== undefined) notify("done", done);
    return result;
  } catch (error) {
    notify("error", messageOf(error));
    return undefined;
  }
}
