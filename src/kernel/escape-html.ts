import { escapeControls } from "./text.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text for HTML content and for quoted attributes. Names come from users, so they must not become markup. */
export function escapeHtml(text: string): string {
  return escapeControls(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
