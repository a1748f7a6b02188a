/**
 * The groups of the help of `standin`, and the page of each command: a path in docs/, with the heading. A command
 * without a row is in the group "Commands:", and its page is the one that lists all. `npm run check:docs` checks that pages
 * and headings exist.
 */
export const COMMAND_PAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Start:": {
    serve: "reference/serve.md",
    init: "reference/commands.md#first-files",
    exec: "how-to/run-in-ci.md",
    engines: "reference/postgres.md#versions",
    "engines upgrade": "reference/postgres.md#upgrades-of-data",
    mirror: "how-to/compare-servers.md#copy-an-account",
    doctor: "reference/commands.md#checking-a-setup",
    completion: "reference/commands.md#completion",
    docs: "reference/commands.md#documentation",
  },
  "Connect:": {
    env: "how-to/connect-clients.md",
    psql: "how-to/connect-postgres.md",
    hosts: "reference/postgres.md#host-names",
    keys: "reference/commands.md",
    wait: "reference/control-api.md#waiting",
    stop: "how-to/run-in-ci.md#start-a-server-for-a-job",
  },
  "Follow:": {
    status: "reference/commands.md#daily-use",
    open: "how-to/use-the-console.md",
    events: "reference/commands.md#following",
    requests: "reference/commands.md#following",
    explain: "how-to/travel-in-time.md#find-out-why",
  },
  "Control:": {
    clock: "how-to/travel-in-time.md#move-the-clock-forward",
    activity: "reference/commands.md#activity",
    faults: "reference/faults.md",
  },
  "Preserve and restore:": {
    snapshots: "reference/history.md#snapshots",
    "snapshots push": "reference/history.md#pushing-and-pulling",
    "snapshots pull": "reference/history.md#pushing-and-pulling",
    worlds: "reference/history.md#worlds",
    "worlds move": "reference/history.md#moving-a-world",
    replay: "reference/history.md#points",
    export: "reference/history.md#export-and-import",
    import: "reference/history.md#export-and-import",
    compact: "reference/history.md#retention",
    verify: "reference/history.md#verification",
    scrub: "reference/history.md#background-checks",
  },
  "Test:": {
    run: "reference/scenario-file.md#standin-run",
    record: "reference/scenario-file.md#standin-record",
    report: "reference/scenario-file.md#standin-run",
    worker: "how-to/run-on-many-machines.md",
    drift: "how-to/compare-servers.md#check-for-differences",
    shadow: "reference/shadow.md",
  },
  "Decide:": {
    advise: "reference/advise.md",
    account: "reference/account-file.md",
    "account arrivals": "reference/account-file.md#the-arrivals-of-this-past",
    whatif: "reference/whatif.md",
    "whatif curve": "reference/whatif.md#curve",
    "whatif apply": "reference/whatif.md#apply",
    "whatif compare": "reference/whatif.md#compare",
    "whatif backtest": "reference/whatif.md#backtest",
    "whatif capacity": "reference/whatif.md#capacity",
    "whatif attribute": "reference/whatif.md#attribute",
    "whatif quota": "reference/whatif.md#quota",
    "whatif starts": "reference/whatif.md#starts",
    "whatif profiles": "reference/whatif.md#profiles",
    "whatif fleet": "reference/whatif.md#fleet",
    "whatif import": "reference/whatif.md#import",
    "whatif sql": "reference/whatif.md#sql",
    "whatif merge": "reference/whatif.md#merge",
  },
};

const PAGE_OF_ALL = "reference/commands.md";

/** The page of a command, such as `whatif curve`: its own, or that of its parent. */
export function pageOfCommand(name: string): string {
  const pages = Object.assign({}, ...Object.values(COMMAND_PAGES)) as Readonly<Record<string, string>>;
  return pages[name] ?? pages[name.split(" ")[0] as string] ?? PAGE_OF_ALL;
}
