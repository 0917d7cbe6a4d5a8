/** A connection for a test to a server other than that of the run. */
import pg from "pg";
import { atFileEnd } from "./file-end.ts";
import { until } from "./until.ts";

export interface Statements {
  run<Row = Record<string, string>>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Repeats `run` until it succeeds, for a server that restarts. */
  insist(text: string, values?: readonly unknown[]): Promise<void>;
}

export const openStatements = (url: string): Statements => {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on("error", () => undefined); // the server may be restarting
  atFileEnd(() => pool.end());
  const run: Statements["run"] = async <Row>(text: string, values: readonly unknown[] = []) =>
    (await pool.query(text, values as unknown[])).rows as Row[];
  return {
    run,
    insist: (text, values) =>
      until(
        () =>
          run(text, values).then(
            () => true,
            () => false,
          ),
        `the server runs ${text}`,
      ),
  };
};
