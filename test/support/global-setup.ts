/**
 * Prepares a run: the template database on a PostgreSQL server, or the embedded image on platforms without a server.
 */
import type { TestProject } from "vitest/node";
import type { Capabilities } from "./capabilities.ts";

/** The data with which a test process opens its database. */
export type DatabasePlan =
  | {
      readonly kind: "server";
      readonly url: string;
      readonly template: string;
      readonly prefix: string;
      /** An option of `create database` that copies files, which avoids logging each page. */
      readonly strategy: string;
    }
  | { readonly kind: "embedded"; readonly imagePath: string };

interface PreparedDatabase {
  readonly plan: DatabasePlan;
  readonly capabilities: Capabilities;
  readonly remove: () => Promise<void>;
}

declare module "vitest" {
  /** The provided values. The plan is undefined for files without a database (see files.ts). */
  export interface ProvidedContext {
    databasePlan: DatabasePlan | undefined;
    capabilities: Capabilities | undefined;
    /** True if several files run one after the other in one process. */
    isProcessShared: boolean;
  }
}

const onServer = async (url: string): Promise<PreparedDatabase> =>
  (await import("./server-template.ts")).prepareTemplate(url);

const onOwnServer = async (): Promise<PreparedDatabase> => {
  const { startPrimary } = await import("./postgres-server.ts");
  const server = await startPrimary();
  try {
    const database = await onServer(server.url);
    return { ...database, remove: server.stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
};

const onEmbedded = async (): Promise<PreparedDatabase> => (await import("./embedded-image.ts")).prepareImage();

const prepare = async (): Promise<PreparedDatabase> => {
  const url = process.env["TEST_DATABASE_URL"] ?? "";
  if (url !== "") return onServer(url);
  const { hasPostgres } = await import("./postgres-programs.ts");
  return hasPostgres ? onOwnServer() : onEmbedded();
};

const provide = (project: TestProject, { plan, capabilities, remove }: PreparedDatabase): (() => Promise<void>) => {
  project.provide("databasePlan", plan);
  project.provide("capabilities", capabilities);
  return remove;
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // This project's files always run on the embedded database.
  if (project.name === "embedded") return provide(project, await onEmbedded());
  const database = await prepare();
  console.log(
    database.plan.kind === "server"
      ? `The tests run on PostgreSQL ${database.capabilities.version}.`
      : "The tests run on the embedded database, because npm has no PostgreSQL for this platform.",
  );
  return provide(project, database);
}
