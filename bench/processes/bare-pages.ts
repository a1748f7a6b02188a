/** The URLs to read, and the headers of each call. */
export type BarePages = {
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly callsAtOnce: number;
};

// Reads pages and parses them, without a check and without a file. The URLs are known, so no page waits for
// the cursor in the page before it.
const { urls, headers, callsAtOnce } = JSON.parse(process.argv[2] ?? "") as BarePages;
const queue = [...urls];
const readNext = async () => {
  for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
    const response = await fetch(url, { headers });
    if (!response.ok) throw new Error(`GET ${url}: ${response.status}`);
    await response.json();
  }
};
await Promise.all(Array.from({ length: callsAtOnce }, readNext));
