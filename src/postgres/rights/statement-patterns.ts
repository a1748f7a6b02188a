/** Parts of regular expressions of Postgres, without groups, for statements that are checked as a whole. */
export const SPACE = "[[:space:]]+";
export const GAP = "[[:space:]]*";
export const NAME = '(?:[a-z_][a-z0-9_$]*|(?:"[^"]*")+)';
export const NAMES = `${NAME}(?:${GAP},${GAP}${NAME})*`;
const OPTION = `[a-z_]+(?:${GAP}=${GAP}(?:[a-z0-9_]+|'[^']*'))?`;
export const WITH = `(?:${GAP}WITH${GAP}[(]${GAP}${OPTION}(?:${GAP},${GAP}${OPTION})*${GAP}[)])?`;
