import { afterAll, expect } from "vitest";
import { checkedClients, control } from "../document/public-client.ts";
import { serve, temporaryDirectory } from "../process/process.ts";

/**
 * `standin serve` on a manual clock for the tests of one file, and the public client for it. Every answer is
 * validated against the document, and the server must exit with 0.
 */
export async function startServedClient(flags: readonly string[] = []) {
  const directory = temporaryDirectory();
  const served = await serve(directory.path, [
    "--clock",
    "manual",
    "--start-at",
    "2026-01-01T00:00:00Z",
    "--seed",
    "1",
    ...flags,
  ]);
  const { faults, client } = checkedClients(served.ready.api_url);
  afterAll(async () => {
    const code = await served.kill("SIGTERM");
    directory.remove();
    expect(code).toBe(0);
    expect(faults).toEqual([]);
  });
  const sim = (method: string, path: string, body?: unknown) =>
    control(served.ready.control_url, method, path, body);
  return {
    client: client(served.ready.api_key ?? ""),
    clientWith: client,
    /** A call of the control API. */
    sim,
    advance: (by: string) => sim("POST", "/clock/advance", { by }),
  };
}
