import { type ChildProcess, spawn } from "node:child_process";

/**
 * Reads which processes run, one line for each change, and ends those that are left when their parent has ended: by
 * whatever signal that was, its end of the pipe is closed. Then it removes the directories: a process that has ended may
 * have deleted the file that tells the next server about them, and one that has not may still write to them.
 */
const SCRIPT = `trap '' HUP INT TERM
signal=$1
shift
pids=
while read -r action pid; do
  others=
  for other in $pids; do [ "$other" = "$pid" ] || others="$others $other"; done
  pids=$others
  [ "$action" = watch ] && pids="$pids $pid"
done
for pid in $pids; do kill -"$signal" "$pid" 2> /dev/null; done
tries=100
for pid in $pids; do
  while [ $tries -gt 0 ] && kill -0 "$pid" 2> /dev/null; do sleep 0.1; tries=$((tries - 1)); done
  [ $tries -gt 0 ] || kill -KILL "$pid" 2> /dev/null
done
tries=50
while [ $tries -gt 0 ]; do
  rm -rf -- "$@" 2> /dev/null && break
  sleep 0.1
  tries=$((tries - 1))
done`;

export type WatchdogOptions = {
  /** Ends the processes. They have 10 s. */
  readonly signal: "QUIT" | "TERM";
  /** Removed when this process has ended, and by `close`. Called when the watchdog starts. */
  readonly directories: () => readonly string[];
};

/** A process that ends child processes of this one when this one has ended, also by SIGKILL. */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #shell: ChildProcess | undefined;
  readonly #pids = new Set<number>();

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** Starts it, if it does not run: from now on, the directories are removed. */
  start(): void {
    if (this.#shell === undefined) this.#spawn();
  }

  watch(pid: number): void {
    this.#pids.add(pid);
    if (this.#shell === undefined) this.#spawn();
    else this.#send(`watch ${pid}`);
  }

  forget(pid: number): void {
    if (this.#pids.delete(pid)) this.#send(`forget ${pid}`);
  }

  close(): void {
    this.#pids.clear();
    this.#shell?.stdin?.end();
    this.#shell = undefined;
  }

  #spawn(): void {
    const { signal, directories } = this.#options;
    // In a session of its own, so that Ctrl-C in a terminal does not reach it.
    const shell = spawn("sh", ["-c", SCRIPT, "sh", signal, ...directories()], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#shell = shell;
    const forget = () => {
      if (this.#shell === shell) this.#shell = undefined;
    };
    // Without a shell, the next start on each directory ends what is left. One that was killed is started again.
    shell.once("error", forget).once("exit", forget);
    shell.stdin.on("error", () => undefined);
    shell.unref();
    (shell.stdin as unknown as { unref(): void }).unref();
    for (const pid of this.#pids) this.#send(`watch ${pid}`);
  }

  #send(line: string): void {
    this.#shell?.stdin?.write(`${line}\n`);
  }
}
