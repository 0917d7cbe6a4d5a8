/** Reads the answers of `fetch`. */

/** Returns undefined if the body is larger than the limit. The rest is not read then. */
export const readLimitedText = async (response: Response, maxBytes: number): Promise<string | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString("utf8");
};

/** Errors of `fetch` carry the actual reason in their cause. */
export const describeFetchError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
};
