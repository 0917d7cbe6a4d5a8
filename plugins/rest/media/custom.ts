/** Builds the body with aggregates and functions of the database, if it has a domain with the name of the media type:
 *  `Accept: text/html`. */
import {
  findBaseType,
  definePlugin,
  ident,
  isSameName,
  sql,
  type Json,
  type MediaContext,
  type MediaHandler,
  type Model,
  type Routine,
  type Sql,
} from "../../../core/index.ts";
import { chooseMediaHook, type ChosenMedia, type MediaType, type MediaNegotiation as Wanted } from "../api.ts";

interface HandlerOptions {
  readonly schema: string;
  readonly name: string;
  readonly isBytea: boolean;
}

// `buildHandlerMedia` wrote the options
const readHandlerOptions = (options: Json | undefined): HandlerOptions => options as unknown as HandlerOptions;

/** Bytes are transferred as base64, other values as their type prints them, because a cast to text would keep parts
 *  that `xml` omits. A null value is an empty body (R-MED-6). */
const compileBody = (body: Sql, isBytea: boolean): Sql =>
  isBytea ? sql`coalesce(pg_catalog.encode(${body}, 'base64'), '')` : sql`pg_catalog.concat(${body})`;

/** The argument of the aggregate. The rows of a statement have lost the row type of the relation. */
const compileHandlerArgument = ({ row, rowAlias, relation, returns, envelope }: MediaContext): Sql => {
  if (returns === "value" || returns === "values") return ident(rowAlias, "value");
  return relation !== undefined && envelope.domains === "stored"
    ? sql`${row}::${ident(relation.schema, relation.name)}`
    : row;
};

/** The names under which handlers are compiled, for every media type. */
const AGGREGATE = "custom-aggregate";
const VALUE = "custom-value";

/** Chooses a handler that the database declares by domains. @rule R-MED-4 R-MED-5 R-MED-6 */
const chooseHandler = (type: MediaType, { model, relation, routine, isWholeRow }: Wanted): ChosenMedia | undefined => {
  if (type.plan !== undefined) return undefined;
  if (isWholeRow) {
    const served = routine === undefined ? undefined : findValueHandler(model, routine);
    for (const name of type.name === "*/*" ? ["*/*"] : ["*/*", type.name]) {
      if (served?.mediaType === name) return buildHandlerMedia(name, VALUE, { isBytea: served.isBytea });
      const own =
        relation &&
        model.mediaHandlers.find(
          (handler) =>
            handler.mediaType === name && handler.relation !== undefined && isSameName(handler.relation, relation),
        );
      if (own !== undefined) return chooseAggregate(name, own);
    }
  }
  const general = model.mediaHandlers.find(
    (handler) => handler.relation === undefined && handler.mediaType === type.name,
  );
  return general && chooseAggregate(type.name, general);
};

const chooseAggregate = (name: string, { aggregate, relation, isBytea }: MediaHandler): ChosenMedia => {
  const chosen = buildHandlerMedia(name, AGGREGATE, { schema: aggregate.schema, name: aggregate.name, isBytea });
  return relation === undefined ? chosen : { ...chosen, envelope: { ...chosen.envelope, domains: "stored" } };
};

/** A response of a handler for any type has the generic content type. */
const buildHandlerMedia = (name: string, media: string, mediaOptions: Partial<HandlerOptions>): ChosenMedia => ({
  envelope: { media, mediaOptions },
  ...(name === "*/*" ? { contentType: "application/octet-stream" } : {}),
  isBinary: mediaOptions.isBytea === true,
});

/** Matches domain names that are media types: `text/html`, `application/vnd.x-y+json`, `*` + `/*`. */
const MEDIA_NAME = /^(?:[A-Za-z0-9.+-]+\/[A-Za-z0-9.+-]+|\*\/\*)$/;

/** The media type of a function's result, from the name of its domain. */
const findValueHandler = (
  model: Model,
  routine: Routine,
): { readonly mediaType: string; readonly isBytea: boolean } | undefined => {
  if (routine.returns.isSet || routine.returns.kind !== "scalar") return undefined;
  const type = model.types.get(routine.returns.type);
  if (type?.kind !== "domain" || !MEDIA_NAME.test(type.name)) return undefined;
  return { mediaType: type.name.toLowerCase(), isBytea: findBaseType(model, type.oid)?.name === "bytea" };
};

/** Returns media types that aggregates and functions of the database build. @rule R-MED-4 R-MED-5 R-MED-6 */
export const customMedia = definePlugin({
  name: "custom-media",
  requires: ["rest"],
  apply: (hooks, context) => {
    context.use(chooseMediaHook).tap("custom-media", chooseHandler);
    hooks.compileMedia.for(AGGREGATE).tap("custom-media", (context) => {
      const { schema, name, isBytea } = readHandlerOptions(context.options);
      return compileBody(sql`${ident(schema, name)}(${compileHandlerArgument(context)})`, isBytea);
    });
    hooks.compileMedia
      .for(VALUE)
      .tap("custom-media", (context) =>
        compileBody(
          sql`(pg_catalog.array_agg(${ident(context.rowAlias, "value")}))[1]`,
          readHandlerOptions(context.options).isBytea,
        ),
      );
  },
});
