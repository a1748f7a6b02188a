import { type ChildProcess, spawn } from "node:child_process";

/**
 * Reads which processes run, one line for each change, and ends those that are left when the server has ended: by
 * whatever signal that was, its end of the pipe is closed. An immediate shutdown loses nothing that was committed.
 * Then it removes the directory of their sockets: Postgres has deleted the file that tells the next server about it.
 */
const SCRIPT = `trap '' HUP INT TERM
pids=
while read -r action pid; do
  others=
  for other in $pids; do [ "$other" = "$pid" ] || others="$others $other"; done
  pids=$others
  [ "$action" = watch ] && pids="$pids $pid"
done
for pid in $pids; do kill -QUIT "$pid" 2> /dev/null; done
tries=100
for pid in $pids; do
  while [ $tries -gt 0 ] && kill -0 "$pid" 2> /dev/null; do sleep 0.1; tries=$((tries - 1)); done
done
rm -rf -- "$1"`;

/** A process that ends the Postgres processes of this one when this one has ended, also by SIGKILL. */
export class Watchdog {
  #shell: ChildProcess | undefined;
  readonly #pids = new Set<number>();

  /** `socketRoot`: the directory with the sockets of all processes of this server. */
  watch(pid: number, socketRoot: string): void {
    this.#pids.add(pid);
    if (this.#shell === undefined) this.#start(socketRoot);
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

  #start(socketRoot: string): void {
    // In a session of its own, so that Ctrl-C in a terminal does not reach it.
    const shell = spawn("sh", ["-c", SCRIPT, "sh", socketRoot], {
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
