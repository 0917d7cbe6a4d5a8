/** Reads session headers under either prefix: `X-Session-Role: editor`. */
import { decodeUtf8Header, type Credentials } from "../../core/index.ts";

/** Decodes a header value, except a value of a socket, which is already decoded. */
export const decodeHeader = (credentials: Pick<Credentials, "isSocket">, value: string): string =>
  credentials.isSocket ? value : decodeUtf8Header(value);

/** Returns the value of the header `X-Session-…`, or else of `X-Hasura-…`. */
export const readSessionHeader = (credentials: Credentials, name: string): string | undefined => {
  const value = credentials.header(`x-session-${name}`) ?? credentials.header(`x-hasura-${name}`);
  return value === undefined ? undefined : decodeHeader(credentials, value);
};

/** Replaces the prefix of a lower-case header name by `x-session-`. Undefined for other headers. */
export const normalizeSessionName = (header: string): string | undefined => {
  if (header.startsWith("x-session-")) return header;
  return header.startsWith("x-hasura-") ? `x-session-${header.slice("x-hasura-".length)}` : undefined;
};
