import { flood } from "../load/flood.ts";
import { paced } from "../load/paced.ts";
import { answerParent } from "./answering.ts";

// The client, in a process of its own so that it does not share the server's thread.
answerParent({ flood, paced });
process.stdout.write("{}\n");
