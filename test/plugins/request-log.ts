import { definePlugin, quoteIdentifier, joinSql, sql, bindValue } from "../../core/index.ts";

/** Inserts a row for each answered request: `requestLog("app", "request_log")`. */
export const requestLog = (schema: string, table: string) =>
  definePlugin({
    name: "request-log",
    apply: (_hooks, context) => {
      const columns = joinSql(["method", "path", "status", "role"].map((name) => quoteIdentifier(name)));
      context.addStep({
        name: "request-log",
        afterResponse: ({ method, path, session }, { status }) => {
          const values = joinSql([
            bindValue(method, "text"),
            bindValue(path, "text"),
            bindValue(String(status), "int4"),
            bindValue(session?.role ?? null, "text"),
          ]);
          context
            .query(sql`insert into ${quoteIdentifier(schema, table)} (${columns}) values (${values})`)
            .catch((error: unknown) => {
              context.logger.error("a request is not in the log table", { cause: String(error) });
            });
        },
      });
    },
  });
