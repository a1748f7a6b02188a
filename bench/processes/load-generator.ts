import { runClosedLoop } from "../load/closed-loop.ts";
import { runOpenLoop } from "../load/open-loop.ts";
import { handleParentRequests } from "./parent-requests.ts";

// A separate process, so that it does not share the thread of the server.
handleParentRequests({ runClosedLoop, runOpenLoop });
process.stdout.write("{}\n");
