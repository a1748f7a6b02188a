// @ts-nocheck
// Loaded into the server of the soak: answers each message of its parent with its memory after garbage collection.
process.on("message", () => {
  // Twice, because the second collection frees what finalizers released after the first.
  globalThis.gc();
  globalThis.gc();
  process.send(process.memoryUsage());
});
process.channel.unref();
