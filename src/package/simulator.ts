// The simulator for both exports of the package. It is bundled once: each export loads this bundle.
export { createStandin, StandinError } from "./create-standin.ts";
export { newestRequest, reportFailedTest } from "./failed-test.ts";
