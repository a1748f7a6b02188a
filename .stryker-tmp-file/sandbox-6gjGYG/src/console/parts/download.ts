/** Saves a text as a file of the user. */
// @ts-nocheck

export function downloadText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/yaml" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the content after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
