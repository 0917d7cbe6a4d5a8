import { definePlugin, ident, join, sql, value } from "../../core/index.ts";

/** Inserts a row for each answered request: `requestLog("app", "request_log")`. */
export const requestLog = (schema: string, table: string) =>
  definePlugin({
    name: "request-log",
    apply: (_hooks, context) => {
      const columns = join(["method", "path", "status", "role"].map((name) => ident(name)));
      context.addStep({
        name: "request-log",
        afterResponse: ({ method, path, session }, { status }) => {
          const values = join([
            value(method, "text"),
            value(path, "text"),
            value(String(status), "int4"),
            value(session?.role ?? null, "text"),
          ]);
          context
            .query(sql`insert into ${ident(schema, table)} (${columns}) values (${values})`)
            .catch((error: unknown) => {
              context.logger.error("a request is not in the log table", { cause: String(error) });
            });
        },
      });
    },
  });
