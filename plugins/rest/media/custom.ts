/** Builds the body with aggregates and functions of the database, if it has a domain with the name of the media type:
 *  `Accept: text/html`. */
import {
  findBaseType,
  definePlugin,
  quoteIdentifier,
  isSameName,
  sql,
  type Json,
  type MediaContext,
  type MediaHandler,
  type Model,
  type Routine,
  type Sql,
} from "../../../core/index.ts";
import { chooseMediaHook, type ChosenMedia, type MediaType, type MediaNegotiation } from "../api.ts";
import { ANY_MEDIA_TYPE } from "../syntax/media-type.ts";

interface HandlerOptions {
  readonly schema: string;
  readonly name: string;
  readonly isBytea: boolean;
}

// `buildHandlerMedia` writes the options.
const readHandlerOptions = (options: Json | undefined): HandlerOptions => options as unknown as HandlerOptions;

/** Compiles the body: bytes as base64, and other values as `concat` prints them, because a cast of `xml` to text would
 *  keep its declaration. A null value is an empty body. @rule R-MED-6 */
const compileBody = (body: Sql, isBytea: boolean): Sql =>
  isBytea ? sql`coalesce(pg_catalog.encode(${body}, 'base64'), '')` : sql`pg_catalog.concat(${body})`;

/** Compiles the argument of the aggregate. The row is cast to the row type of the relation, because the rows of a
 *  statement lose that type. */
const compileHandlerArgument = ({ row, rowAlias, relation, returns, envelope }: MediaContext): Sql => {
  if (returns === "value" || returns === "values") return quoteIdentifier(rowAlias, "value");
  return relation !== undefined && envelope.domains === "stored"
    ? sql`${row}::${quoteIdentifier(relation.schema, relation.name)}`
    : row;
};

/** The keys of `compileMedia` for handlers of all media types. */
const AGGREGATE = "custom-aggregate";
const VALUE = "custom-value";

/** Chooses an aggregate or function whose return type is a domain with the name of the media type.
 *  @rule R-MED-4 R-MED-5 R-MED-6 */
const chooseHandler = (
  type: MediaType,
  { model, relation, routine, isWholeRow }: MediaNegotiation,
): ChosenMedia | undefined => {
  if (type.plan !== undefined) return undefined;
  if (isWholeRow) {
    const handler = routine === undefined ? undefined : findValueHandler(model, routine);
    for (const name of type.name === ANY_MEDIA_TYPE ? [ANY_MEDIA_TYPE] : [ANY_MEDIA_TYPE, type.name]) {
      if (handler?.mediaType === name) return buildHandlerMedia(name, VALUE, { isBytea: handler.isBytea });
      const relationHandler =
        relation &&
        model.mediaHandlers.find(
          (handler) =>
            handler.mediaType === name && handler.relation !== undefined && isSameName(handler.relation, relation),
        );
      if (relationHandler !== undefined) return chooseAggregate(name, relationHandler);
    }
  }
  const general = model.mediaHandlers.find(
    (handler) => handler.relation === undefined && handler.mediaType === type.name,
  );
  return general && chooseAggregate(type.name, general);
};

const chooseAggregate = (name: string, { aggregate, relation, isBytea }: MediaHandler): ChosenMedia => {
  const chosenMedia = buildHandlerMedia(name, AGGREGATE, { schema: aggregate.schema, name: aggregate.name, isBytea });
  return relation === undefined
    ? chosenMedia
    : { ...chosenMedia, envelope: { ...chosenMedia.envelope, domains: "stored" } };
};

/** Builds the choice of a handler. A handler for all media types returns bytes of an unknown type, so the content type
 *  is the generic one. */
const buildHandlerMedia = (name: string, media: string, mediaOptions: Partial<HandlerOptions>): ChosenMedia => ({
  envelope: { media, mediaOptions },
  ...(name === ANY_MEDIA_TYPE ? { contentType: "application/octet-stream" } : {}),
  isBinary: mediaOptions.isBytea === true,
});

/** Matches domain names that are media types: `text/html`, `application/vnd.x-y+json`, and the range of all types. */
const MEDIA_NAME = /^(?:[A-Za-z0-9.+-]+\/[A-Za-z0-9.+-]+|\*\/\*)$/;

/** Returns the media type of a function's result, which is the name of its domain. Returns undefined if the function
 *  returns rows, or a type that is not such a domain. */
const findValueHandler = (
  model: Model,
  routine: Routine,
): { readonly mediaType: string; readonly isBytea: boolean } | undefined => {
  if (routine.returns.isSet || routine.returns.kind !== "scalar") return undefined;
  const type = model.types.get(routine.returns.type);
  if (type?.kind !== "domain" || !MEDIA_NAME.test(type.name)) return undefined;
  return { mediaType: type.name.toLowerCase(), isBytea: findBaseType(model, type.oid)?.name === "bytea" };
};

/** Returns media types whose bodies the database builds, by handlers that it declares. @rule R-MED-4 R-MED-5 R-MED-6 */
export const customMedia = definePlugin({
  name: "custom-media",
  requires: ["rest"],
  apply: (hooks, context) => {
    context.use(chooseMediaHook).tap("custom-media", chooseHandler);
    hooks.compileMedia.for(AGGREGATE).tap("custom-media", (context) => {
      const { schema, name, isBytea } = readHandlerOptions(context.options);
      return compileBody(sql`${quoteIdentifier(schema, name)}(${compileHandlerArgument(context)})`, isBytea);
    });
    hooks.compileMedia
      .for(VALUE)
      .tap("custom-media", (context) =>
        compileBody(
          sql`(pg_catalog.array_agg(${quoteIdentifier(context.rowAlias, "value")}))[1]`,
          readHandlerOptions(context.options).isBytea,
        ),
      );
  },
});
