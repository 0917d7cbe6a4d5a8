/** Loads the optional package for remote schemas at its first use. @rule X-RMT-3 */
import { GraphQLSchema } from "graphql";
import { importPackage } from "../../../../core/index.ts";
import { graphqlPackageDuplicated } from "../errors.ts";

export type WrapTools = typeof import("@graphql-tools/wrap");

/** The remote schema in the form that the package wraps. */
export type Subschema = Parameters<WrapTools["wrapSchema"]>[0];

let wrapTools: Promise<WrapTools> | undefined;

/** Loads the package that wraps remote schemas.
 *  @throws RelApiError `preset` if the package is missing, or uses another copy of graphql */
export const loadWrapTools = (): Promise<WrapTools> => (wrapTools ??= loadAndCheck());

const loadAndCheck = async (): Promise<WrapTools> => {
  const tools = (await importTools()) as WrapTools; // the package has these exports
  let schema: unknown;
  try {
    schema = tools.wrapSchema({ schema: new GraphQLSchema({}) });
  } catch {
    // The package graphql rejects the objects of its other copy, except in production.
  }
  if (!(schema instanceof GraphQLSchema)) throw graphqlPackageDuplicated("the package @graphql-tools/wrap");
  return tools;
};

// The script .ci/bundle-server.mjs finds this call.
const importTools = (): Promise<unknown> =>
  importPackage("@graphql-tools/wrap", "remote-schema-fields", "@graphql-tools/wrap@11");
