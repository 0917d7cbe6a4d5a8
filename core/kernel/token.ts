/** A name and the type of what stands behind it, for services and hooks that plugins declare for each other. It exists
 *  for the compiler only: the plugin's `api.ts` exports `type SoapService = Token<"soap", SoapEngine>`, and
 *  `context.service<SoapService>("soap")` takes no other name and answers a `SoapEngine`. */
export interface Token<Name extends string, Value> {
  readonly name: Name;
  readonly value: Value;
}

/** Any of them. */
export type AnyToken = Token<string, unknown>;
