/** Quotes the value of a header parameter. */
const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** Returns the challenge of a 401. `refusal` is the reason why the token was refused, in header-safe characters;
 *  undefined without a token. `resourceMetadata` is the address of OAuth's protected resource metadata. @rule R-AUT-9
 *  P-MCP-10 @experimental */
export const bearerChallenge = (refusal?: string, resourceMetadata?: string): readonly [string, string] => {
  const parameters = [
    ...(resourceMetadata === undefined ? [] : [`resource_metadata=${quoted(resourceMetadata)}`]),
    ...(refusal === undefined ? [] : ['error="invalid_token"', `error_description=${quoted(refusal)}`]),
  ];
  return ["WWW-Authenticate", parameters.length === 0 ? "Bearer" : `Bearer ${parameters.join(", ")}`];
};
