/** Text in a parameter of a header, between quotation marks. */
const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** The challenge of a 401. `refusal`: why the token was refused, as a header can carry it; undefined without a token.
 *  `resourceMetadata`: the address of OAuth's metadata of the resource. @rule R-AUT-9 P-MCP-10 */
export const bearerChallenge = (refusal?: string, resourceMetadata?: string): readonly [string, string] => {
  const parameters = [
    ...(resourceMetadata === undefined ? [] : [`resource_metadata=${quoted(resourceMetadata)}`]),
    ...(refusal === undefined ? [] : ['error="invalid_token"', `error_description=${quoted(refusal)}`]),
  ];
  return ["WWW-Authenticate", parameters.length === 0 ? "Bearer" : `Bearer ${parameters.join(", ")}`];
};
