import * as z from "zod";

const texts = z.array(z.string()).readonly();

/** The report of `standin whatif curve` on the file of an account, with drawings instead of a page. */
export const accountReport = z.object({
  version: z.literal(1),
  title: z.string(),
  subject: z.string(),
  /** Sentences; the first one is the headline. */
  answer: texts,
  facts: z.array(z.object({ label: z.string(), value: z.string(), note: z.string() })).readonly(),
  limits: z.object({ exact: texts, simulated: texts, left_out: texts }),
  tables: z
    .array(
      z.object({
        name: z.string(),
        title: z.string(),
        note: z.string().nullable(),
        headings: texts,
        /** One cell per heading. */
        rows: z.array(texts).readonly(),
      }),
    )
    .readonly(),
  charts: z
    .array(
      z.object({
        name: z.string(),
        title: z.string(),
        caption: z.string(),
        /** SVG without styles: the page that shows it defines colors and font. */
        svg: z.string(),
        narrow_svg: z.string(),
      }),
    )
    .readonly(),
});
