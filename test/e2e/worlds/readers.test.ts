import { join } from "node:path";
import { expect, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { openForReading } from "../../../src/store/file/open-read-only.ts";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import { API_KEY } from "../../support/double/double.ts";
import { inWorld, makeLargeWorld } from "../../support/durability/crashes.ts";
import { type RunningServer, startServer, testDirectory } from "../../support/server/running-server.ts";

test.each([
  ["a request lists the worlds", (server: Pick<RunningServer, "sim">) => server.sim("GET", "/worlds")],
  ["no request is sent", () => undefined],
])(
  "verify of a served world sees a consistent state, whatever changes meanwhile; first, %s",
  async (_, ask) => {
    const data = testDirectory();
    await makeLargeWorld(data, 1_000);
    const first = await startServer(data, [], { key: API_KEY });
    expect((await first.sim("POST", "/worlds", { name: "side" })).status).toBe(201);
    await first.kill("SIGTERM");

    const server = await startServer(data, [], { key: API_KEY });
    const side = inWorld(server, "side");
    const reading = openForReading(join(data, "worlds/side.sqlite"), MIGRATIONS_FOLDER);
    // A small cache makes it read pages again, as with a larger world.
    reading.sqlite.pragma("cache_size = 10");
    let isDone = false;
    const { ok, differences } = await verifyFile(reading.sqlite, async (folded) => {
      if (isDone || folded < 1_000) return;
      isDone = true;
      await ask(server);
      expect((await side.sim("POST", "/compact", { keep: "1h" })).status).toBe(200);
      for (let key = 0; key < 300; key += 1)
        await side.api("POST", "/api_keys", { key_name: "k".repeat(60) });
      expect((await side.sim("POST", "/clock/advance", { by: "30d" })).status).toBe(200);
      // Checkpoints the WAL into the file, unless a reader prevents it.
      await side.sim("POST", "/snapshots", { name: "later" });
    });
    reading.close();
    expect({ isDone, ok, differences }).toEqual({ isDone: true, ok: true, differences: [] });
  },
);
