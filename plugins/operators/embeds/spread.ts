/** Adds columns of the related rows to the parent row: `...author(name)`. */
import {
  definePlugin,
  trustedSql,
  quoteIdentifier,
  sql,
  type Embed,
  type EmbedContext,
  type EmbedSql,
  type Expression,
  type OrderBy,
  type Output,
  type Read,
  type Sql,
} from "../../../core/index.ts";

interface LiftedColumn {
  /** The key in the parent's row. */
  readonly as: string;
  /** The column of the joined rows: the key, or a new name if the key is taken or belongs to another level. */
  readonly name: string;
  readonly aggregate?: { readonly fn: string; readonly cast?: string };
}

interface LiftedRead {
  readonly read: Read;
  readonly columns: readonly LiftedColumn[];
}

/** Returns the read with a unique name for every column, including the columns of nested spreads, because both levels
 *  may have the same keys. Aggregates belong to the parent's level, so the spread selects their arguments. In `read`,
 *  every `*` must be expanded. @rule R-AGG-6 R-SPR-3 */
const liftColumns = (read: Read, usedNames = new Set<string>()): LiftedRead => {
  const columns: LiftedColumn[] = [];
  const outputs: Output[] = [];
  const inner = new Map<string, LiftedRead>();
  const createHiddenName = (): string => {
    let n = usedNames.size;
    while (usedNames.has(`_v${n}`)) n++;
    usedNames.add(`_v${n}`);
    return `_v${n}`;
  };
  const chooseName = (key: string): string =>
    key === "" || usedNames.has(key) ? createHiddenName() : (usedNames.add(key), key);
  for (const output of read.output) {
    if (output.kind === "aggregate") {
      const name = createHiddenName();
      const expression = output.expressions?.[0];
      outputs.push(
        expression === undefined
          ? { kind: "constant", as: name, value: "1" }
          : { kind: "value", as: name, value: expression },
      );
      columns.push({
        as: output.as,
        name,
        aggregate: { fn: output.fn, cast: output.cast },
      });
    } else if (output.kind === "embed" && output.isHidden === true) {
      outputs.push(output);
    } else if (output.kind === "embed" && output.mode === "spread") {
      const liftedRead = liftColumns(output.read, usedNames);
      inner.set(output.id, liftedRead);
      outputs.push({ ...output, read: liftedRead.read });
      columns.push(...liftedRead.columns);
    } else if (output.kind !== "all") {
      const name = chooseName(output.as);
      outputs.push({ ...output, as: name });
      columns.push({ as: output.as, name });
    }
  }
  return {
    read: { ...read, output: outputs, orderBy: read.orderBy?.map((term) => renameOrderTerm(term, inner)) },
    columns,
  };
};

/** Makes an order by a related column refer to a key of the spread. @rule R-ORD-4 */
const renameOrderTerm = (term: OrderBy, inner: ReadonlyMap<string, LiftedRead>): OrderBy => {
  const expression = renameLiftedColumn(term.expression, inner);
  return expression === term.expression ? term : { ...term, expression };
};

const renameLiftedColumn = (expression: Expression, inner: ReadonlyMap<string, LiftedRead>): Expression => {
  if (expression.kind === "ordering") {
    const operand = renameLiftedColumn(expression.value, inner);
    return operand === expression.value ? expression : { ...expression, value: operand };
  }
  if (expression.kind !== "embedded") return expression;
  const column = inner
    .get(expression.embed)
    ?.columns.find(({ as, aggregate }) => as === expression.name && aggregate === undefined);
  return column === undefined ? expression : { ...expression, name: column.name };
};

const compileSpread = (embed: Embed, context: EmbedContext): EmbedSql => {
  const row = context.alias();
  const liftedRead = liftColumns({ ...embed.read, output: context.expand(embed.read.output) });
  if (context.isToOne) {
    const columns = liftedRead.columns.map((column) => {
      const cell = quoteIdentifier(row, column.name);
      if (column.aggregate === undefined)
        return { as: column.as, value: cell, ...(context.isGrouped && { stored: column.name }) };
      // The surface accepts only the functions of R-AGG-1.
      const call = sql`${trustedSql(column.aggregate.fn)}(${cell})`;
      const value =
        column.aggregate.cast === undefined ? call : sql`cast(${call} as ${trustedSql(column.aggregate.cast)})`;
      return { as: column.as, value, isAggregate: true };
    });
    const rows = context.isGrouped ? context.storedRows(liftedRead.read) : context.rows(liftedRead.read);
    return { join: context.lateral(rows, row), row: quoteIdentifier(row), isInnerJoined: true, columns };
  }
  if (liftedRead.columns.length === 0) return { columns: [] };
  const rows = context.alias();
  const arrays = liftedRead.columns.map(
    ({ name }): Sql =>
      sql`coalesce(json_agg(${quoteIdentifier(rows, name)}), '[]')${context.isGrouped ? sql`::jsonb` : sql``} as ${quoteIdentifier(name)}`,
  );
  const read = sql`select ${arrays.reduce((list, array) => sql`${list}, ${array}`)} from (${context.rows(liftedRead.read)}) as ${quoteIdentifier(rows)}`;
  return {
    join: sql`left join lateral (${read}) as ${quoteIdentifier(row)} on true`,
    row: quoteIdentifier(row),
    columns: liftedRead.columns.map(({ as, name }) => ({ as, value: quoteIdentifier(row, name) })),
  };
};

/** Adds columns of the related rows to the row of the parent. @rule R-SPR-1 R-SPR-3 R-SPR-4 R-SPR-6 */
export const spreadEmbeds = definePlugin({
  name: "spread-embeds",
  embeds: [{ mode: "spread", isFlat: true, rest: { prefix: "..." }, builtIn: ["json_agg"], compile: compileSpread }],
});
