export type Question = { readonly id: number; readonly question: string; readonly input: unknown };
export type Reply =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly error: string };

/** Answers the process that started this one, and ends with it. */
export function answerParent(answers: Readonly<Record<string, (input: any) => unknown>>): void {
  process.on("message", async ({ id, question, input }: Question) => {
    const reply = (message: Reply) => process.send?.(message);
    try {
      reply({ id, output: await answers[question]?.(input) });
    } catch (error) {
      reply({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on("disconnect", () => process.exit());
}
