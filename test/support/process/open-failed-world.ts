import { expect, onTestFinished } from "vitest";
import { spawnStandin, waitForExit } from "./process.ts";

/** Runs `standin open` with a file until the end of the test, or until `stop`. */
export async function openFailedWorld(file: string) {
  const running = spawnStandin(["open", file, "--print"]);
  onTestFinished(() => void running.process.kill("SIGTERM"));
  await running.waitForOutput(/Ctrl-C stops/);
  const output = running.stdout();
  const [consoleUrl = ""] = /(?<=console: )\S+/.exec(output) ?? [];
  const [, apiUrl = "", key = ""] = /API: (\S+) \(key: (\S+)\)/.exec(output) ?? [];
  return {
    output,
    consoleUrl,
    sim: (path: string) => json(`${consoleUrl}_sim${path}`),
    api: (path: string) => json(`${apiUrl}${path}`, { Authorization: `Bearer ${key}` }),
    async stop() {
      running.process.kill("SIGINT");
      const { code, stderr } = await waitForExit(running);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests compare parts of the answers.
async function json(url: string, headers: Record<string, string> = {}): Promise<any> {
  return (await fetch(url, { headers })).json();
}
