/** For statements of sessions with the safe settings: elsewhere a backslash might end a literal early. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
