/** Whether the page offers nothing that changes a world (`standin serve --console read-only`). */
export const isReadOnly = document.getElementById("console")?.dataset["mode"] === "read-only";
