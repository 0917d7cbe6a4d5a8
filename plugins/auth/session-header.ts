/** `X-Session-Role: editor`: headers of this service, under either prefix. */
import { utf8Text, type Credentials, type ResolvedOptions } from "../../core/index.ts";

/** What comes over a socket is text already. */
export const headerText = (credentials: Pick<Credentials, "isSocket">, value: string): string =>
  credentials.isSocket ? value : utf8Text(value);

/** `X-Session-…`, else `X-Hasura-…`. */
export const sessionHeader = (credentials: Credentials, name: string): string | undefined => {
  const value = credentials.header(`x-session-${name}`) ?? credentials.header(`x-hasura-${name}`);
  return value === undefined ? undefined : headerText(credentials, value);
};

/** Lower-case name with this service's prefix, of a lower-case header name; undefined: another header. */
export const sessionName = (header: string): string | undefined => {
  if (header.startsWith("x-session-")) return header;
  return header.startsWith("x-hasura-") ? `x-session-${header.slice("x-hasura-".length)}` : undefined;
};

type SecretOptions = Pick<ResolvedOptions, "adminSecret" | "adminSecrets">;

/** Those that are set; any will do. @rule G-AUTH-2 */
export const adminSecretsOf = ({ adminSecret, adminSecrets = [] }: SecretOptions): readonly string[] =>
  [adminSecret, ...adminSecrets].filter((secret): secret is string => secret !== undefined && secret !== "");

/** Without one no header of a session counts. @rule R-AUT-8 G-AUTH-1 */
export const isAdminSecretSet = (options: SecretOptions): boolean => adminSecretsOf(options).length > 0;
