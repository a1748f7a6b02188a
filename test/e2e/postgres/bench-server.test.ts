import { expect, onTestFinished, test } from "vitest";
import { BenchEnvironment } from "../../../bench/environment/environment.ts";
import { awaitIdle, createCompute, startPostgresServer } from "../../../bench/environment/postgres-server.ts";

test("a compute of the server that the benchmark measures starts with the delay that it subtracts", async () => {
  const environment = await BenchEnvironment.open(true);
  onTestFinished(() => environment.close());
  const server = await startPostgresServer(environment, "1000ms");
  const { path } = await createCompute(server, 0.25);
  await expect.poll(async () => (await server.call("GET", path)).endpoint.current_state).toBe("active");
  await server.call("POST", `${path}/suspend`);
  await awaitIdle(server, path);
  const { operations } = await server.call("POST", `${path}/start`);
  const operation = `${path.slice(0, path.indexOf("/endpoints/"))}/operations/${operations[0].id}`;
  await expect.poll(async () => (await server.call("GET", operation)).operation.status).toBe("finished");
  expect((await server.call("GET", operation)).operation).toMatchObject({
    action: "start_compute",
    total_duration_ms: 1_000,
  });
});
