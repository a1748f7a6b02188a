import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { expect, onTestFinished, test, vi } from "vitest";
import { statusCommand } from "../../../src/cli/commands/status.ts";
import type { ControlAnswer } from "../../../src/control-api/document/answers.ts";
import { createDouble } from "../../support/double/double.ts";

type Health = ControlAnswer<"GET /health">;

/** A server whose health shows this failure. */
function startServer(failure: string | undefined): Promise<string> {
  return startWithHealth((health) => ({
    ...health,
    history: { ...health.history, upkeep_failure: failure },
  }));
}

async function startWithHealth(shown: (health: Health) => object): Promise<string> {
  const double = await createDouble();
  const server = createAdaptorServer({
    async fetch(request) {
      const response = await double.fetch(request);
      if (new URL(request.url).pathname !== "/_sim/health") return response;
      return Response.json(shown((await response.json()) as Health));
    },
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", () => listening()));
  onTestFinished(async () => {
    server.close();
    await double.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function printed(...args: readonly string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    await statusCommand().parseAsync(args, { from: "user" });
    return write.mock.calls.map(([text]) => text).join("");
  } finally {
    write.mockRestore();
  }
}

test("the status shows why history could not be maintained", async () => {
  const url = await startServer("database or disk is full");
  expect(await printed("--url", url)).toMatch(
    /\nhistory: the last checkpoint or truncation failed: database or disk is full\n$/,
  );
  expect(JSON.parse(await printed("--url", url, "--json"))).toMatchObject({
    history: { upkeep_failure: "database or disk is full" },
  });
});

test("the status of a world without a failure has no line about history", async () => {
  const url = await startServer(undefined);
  expect(await printed("--url", url)).not.toContain("history");
  expect(JSON.parse(await printed("--url", url, "--json")).history).not.toHaveProperty("upkeep_failure");
});

test("the status of an older server, whose health has no history, is shown", async () => {
  const url = await startWithHealth(({ history: _, ...health }) => health);
  expect(await printed("--url", url)).toContain("no computes");
  expect(JSON.parse(await printed("--url", url, "--json"))).toMatchObject({ endpoints: [] });
});
