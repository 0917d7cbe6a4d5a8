/** `...author(name)`: columns of the related rows become columns of the parent row. */
import { definePlugin, catalogText, ident, sql, type Embed, type EmbedContext, type EmbedSql, type Output, type Read, type Sql } from "../../core/index.ts";

interface Lifted {
  readonly read: Read;
  readonly columns: readonly { readonly as: string; readonly name: string; readonly aggregate?: { readonly fn: string; readonly cast?: string; readonly isRowCount: boolean } }[];
}

/** Aggregates inside a to-one spread belong to the parent's level: the spread selects their arguments under names of its own. @rule R-AGG-6 */
const lift = (read: Read, context: EmbedContext, prefix = "_v"): Lifted => {
  const columns: Lifted["columns"][number][] = [];
  const outputs: Output[] = [];
  for (const output of context.expand(read.output)) {
    if (output.kind === "aggregate") {
      const name = `${prefix}${outputs.length}`;
      const of = output.of?.[0];
      outputs.push(of === undefined ? { kind: "constant", as: name, value: "1" } : { kind: "value", as: name, value: of });
      columns.push({ as: output.as, name, aggregate: { fn: output.fn, cast: output.cast, isRowCount: of === undefined } });
    } else if (output.kind === "embed" && output.mode === "spread" && output.isHidden !== true) {
      const inner = lift(output.read, context, `${prefix}${outputs.length}_`);
      outputs.push({ ...output, read: inner.read });
      columns.push(...inner.columns);
    } else if (output.kind === "embed" && output.isHidden === true) {
      outputs.push(output);
    } else if (output.kind !== "all") {
      outputs.push(output);
      columns.push({ as: output.as, name: output.as });
    }
  }
  return { read: { ...read, output: outputs }, columns };
};

const compileSpread = (embed: Embed, context: EmbedContext): EmbedSql => {
  const row = context.alias();
  if (context.isToOne) {
    const lifted = lift(embed.read, context);
    const columns = lifted.columns.map((column) => {
      const cell = ident(row, column.name);
      if (column.aggregate === undefined) return { as: column.as, value: cell };
      const call = sql`${catalogText(column.aggregate.fn)}(${cell})`; // the surface read it from the fixed list of R-AGG-1
      const value = column.aggregate.cast === undefined ? call : sql`cast(${call} as ${catalogText(column.aggregate.cast)})`;
      return { as: column.as, value, isAggregate: true };
    });
    return { join: context.lateral(context.rows(lifted.read), row), row: ident(row), isInnerJoined: true, columns };
  }
  const rows = context.alias();
  const names = arrayNames(embed.read, context);
  const arrays = names.map((name): Sql => sql`coalesce(json_agg(${ident(rows, name)}), '[]')${context.isGrouped ? sql`::jsonb` : sql``} as ${ident(name)}`);
  if (arrays.length === 0) return { columns: [] };
  const read = sql`select ${arrays.reduce((list, one) => sql`${list}, ${one}`)} from (${context.rows()}) as ${ident(rows)}`;
  return { join: sql`left join lateral (${read}) as ${ident(row)} on true`, row: ident(row), columns: names.map((name) => ({ as: name, value: ident(row, name) })) };
};

/** Keys of a to-many spread: spreads inside it count with their own keys. @rule R-SPR-4 */
const arrayNames = (read: Read, context: EmbedContext): string[] =>
  context.expand(read.output).flatMap((output) => {
    if (output.kind === "embed" && output.isHidden === true) return [];
    if (output.kind === "embed" && output.mode === "spread") return arrayNames(output.read, context);
    return output.kind === "all" ? [] : [output.as];
  });

/** @rule R-SPR-1 R-SPR-3 R-SPR-4 R-SPR-6 */
export const spreadEmbeds = definePlugin({
  name: "spread-embeds",
  embeds: [{ mode: "spread", rest: { prefix: "..." }, compile: compileSpread }],
});
