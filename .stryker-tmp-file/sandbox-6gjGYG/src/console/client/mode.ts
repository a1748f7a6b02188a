// @ts-nocheck
const mode = document.getElementById("console")?.dataset["mode"];

/** Whether the page shows a scenario run (`standin run --ui`), and controls it. */
export const showsRun = mode === "run";
/** Whether the page offers nothing that changes a world (`standin serve --console read-only`). */
export const isReadOnly = mode === "read-only" || showsRun;
