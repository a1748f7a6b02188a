import { expect, test } from "vitest";
import { Neonctl } from "../../support/clients/neonctl.ts";
import { control } from "../../support/document/public-client.ts";
import { serve, temporaryDirectory } from "../../support/process/process.ts";

// C: on 423, the public CLI retries five times, every three seconds; for projects, it would fail at once.

test("it retries a branch after 423 until the operations finish", async () => {
  const [directory, home] = [temporaryDirectory(), temporaryDirectory()];
  const served = await serve(directory.path, ["--clock", "manual", "--seed", "1"]);
  const neonctl = new Neonctl(served.ready.api_url, served.ready.api_key ?? "", home.path);
  const { project } = await neonctl.json("projects", "create", "--name", "shop");

  // The test advances the clock when the CLI reports the 423.
  const waits: string[] = [];
  const { code, stdout } = await neonctl.run(
    ["branches", "create", "--name", "dev", "--project-id", project.id],
    async (line) => {
      if (!line.includes("Resource is locked")) return;
      waits.push(line);
      await control(served.ready.control_url, "POST", "/clock/advance", { by: "10s" });
    },
  );
  expect(waits.length).toBeGreaterThanOrEqual(1);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    branch: { name: "dev" },
    endpoints: [{ type: "read_write", pending_state: "active" }],
  });

  const operations = await neonctl.json("operations", "list", "--project-id", project.id);
  expect(
    operations.map(({ action, status }: { action: string; status: string }) => `${action} ${status}`),
  ).toEqual([
    "start_compute scheduling",
    "create_branch running",
    "start_compute finished",
    "create_timeline finished",
  ]);
  await served.kill("SIGTERM");
  directory.remove();
  home.remove();
});
