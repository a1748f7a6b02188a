import type { Reporter, TestModule } from "vitest/node";

/**
 * The last line of a run: `N passed, N failed, N skipped`. A file that cannot be loaded and an error outside
 * of tests count as failures.
 */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      if (module.state() === "failed" && !tests.some((test) => test.result().state === "failed"))
        counts.failed += 1;
      for (const test of tests) {
        const { state } = test.result();
        if (state === "passed" || state === "failed") counts[state] += 1;
        else counts.skipped += 1;
      }
    }
    process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
  }
}
