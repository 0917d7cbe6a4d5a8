/** Parts of a request's headers as they were sent. */

/** Lower-case names; the first of a name counts. */
export function* firstHeaders(rawHeaders: readonly string[]): Iterable<readonly [name: string, value: string]> {
  const seen = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase(); // i is within its length
    if (seen.has(name)) continue;
    seen.add(name);
    yield [name, rawHeaders[i + 1] as string];
  }
}

/** Of a `Cookie` header; quotes around the value are none of it. */
export const cookieOf = (header: string | undefined, name: string): string | undefined => {
  for (const part of header?.split(";") ?? []) {
    const equals = part.indexOf("=");
    if (equals === -1 || part.slice(0, equals).trim() !== name) continue;
    return part.slice(equals + 1).trim().replace(/^"(.*)"$/, "$1");
  }
  return undefined;
};
