import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const KEY = "k".repeat(64);

async function served(args: readonly string[] = []) {
  const data = testDirectory();
  const hosts = join(data, "hosts");
  writeFileSync(hosts, "127.0.0.1 localhost\n");
  const server = await startServer(data, [
    ...["--pg-port", "0", "--engine", "none", "--hosts-file", hosts, "--api-key", KEY, ...args],
  ]);
  const api = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${server.ready.api_url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as never;
  };
  return { data, hosts, server, api };
}

type Created = {
  readonly project: { readonly id: string };
  readonly connection_uris: readonly [
    {
      readonly connection_uri: string;
      readonly connection_parameters: { readonly host: string; readonly pooler_host: string };
    },
  ];
};

test("connection URIs agree with the host once standin hosts has written it", async () => {
  const { data, hosts, api } = await served();
  const created: Created = await api("POST", "/projects", { project: {} });
  const { connection_uri, connection_parameters } = created.connection_uris[0];
  expect(connection_uri).toMatch(/@127\.0\.0\.1:\d+\/neondb\?options=endpoint%3D/);
  const target = ["--data", data];
  const missing = await runStandin(["hosts", "check", "--file", hosts, ...target]);
  expect([missing.code, missing.stdout]).toEqual([1, expect.stringContaining("2 of 2 names are missing")]);
  expect(missing.stdout).toContain("connection_uri has 127.0.0.1 and options=endpoint%3D<id>");

  expect(await runStandin(["hosts", "install", "--file", hosts, ...target])).toMatchObject({
    code: 0,
    stdout: `wrote the names of 1 computes to ${hosts}\n`,
  });
  const { host, pooler_host } = connection_parameters;
  expect(readFileSync(hosts, "utf8")).toBe(
    `127.0.0.1 localhost\n# standin hosts: begin\n127.0.0.1 ${host} ${pooler_host}\n# standin hosts: end\n`,
  );
  expect((await runStandin(["hosts", "check", "--file", hosts, ...target])).code).toBe(0);
  const uriOf = async (pooled: boolean) => {
    const query = `database_name=neondb&role_name=neondb_owner&pooled=${pooled}`;
    const { uri }: { uri: string } = await api(
      "GET",
      `/projects/${created.project.id}/connection_uri?${query}`,
    );
    return new URL(uri).hostname;
  };
  expect([await uriOf(false), await uriOf(true)]).toEqual([host, pooler_host]);

  expect((await runStandin(["hosts", "remove", "--file", hosts])).code).toBe(0);
  expect(readFileSync(hosts, "utf8")).toBe("127.0.0.1 localhost\n");
  expect(await uriOf(false)).toBe("127.0.0.1");
});

test("names of a fork contain its world", async () => {
  const { data, api } = await served();
  await api("POST", "/projects", { project: {} });
  expect((await runStandin(["worlds", "create", "other", "--data", data])).code).toBe(0);
  const printed = await runStandin(["hosts", "print", "--json", "--world", "other", "--data", data]);
  const [entry] = JSON.parse(printed.stdout).hosts;
  expect(entry.names).toEqual([
    expect.stringMatching(/^ep-[a-z0-9-]+\.us-east-2\.aws\.other\.w\.standin\.localhost$/),
    expect.stringMatching(/^ep-[a-z0-9-]+-pooler\.us-east-2\.aws\.other\.w\.standin\.localhost$/),
  ]);
});

test("a file that cannot be read is named, and nothing is written", async () => {
  const { data } = await served();
  expect(await runStandin(["hosts", "install", "--file", join(data, "none"), "--data", data])).toMatchObject({
    code: 2,
    stderr: `standin: ${join(data, "none")}: does not exist\n`,
  });
});

// Root may write everything.
test.skipIf(process.getuid?.() === 0)("without rights, the error says what to do", async () => {
  const { data, hosts } = await served();
  chmodSync(hosts, 0o444);
  const { code, stderr } = await runStandin(["hosts", "install", "--file", hosts, "--data", data]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("run the command with sudo")]);
});

// An address of its own: other tests start servers on 127.0.0.1. Only Linux has it without a configuration.
test.skipIf(process.platform !== "linux")(
  "without --pg-port, a server takes 5432 if it is free, then 4621, then a free port",
  async () => {
    const started = async () => {
      const args = ["--engine", "none", "--host", "127.0.0.9"];
      const { ready } = await startServer(testDirectory(), args);
      return (ready as { postgres_url?: string }).postgres_url;
    };
    expect(await started()).toBe("postgresql://127.0.0.9:5432");
    expect(await started()).toBe("postgresql://127.0.0.9:4621");
    expect(await started()).toMatch(/^postgresql:\/\/127\.0\.0\.9:(?!5432$|4621$)\d+$/);
  },
);
