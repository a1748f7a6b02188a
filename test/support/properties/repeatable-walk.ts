/** Runs a random walk. Its failure names the command that makes the same choices again. */
export async function repeatableWalk(
  { seed, variable, file }: { readonly seed: number; readonly variable: string; readonly file: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const command = `STANDIN_TEST_SEED=${seed} ${variable}=1 npx vitest run --project property ${file}`;
    throw new Error(`${error instanceof Error ? error.message : error}\nto repeat the choices: ${command}`, {
      cause: error,
    });
  }
}
