/** Once per run: the template database of a PostgreSQL server, or the image of the embedded database where the platform
 *  has no server. */
import type { TestProject } from "vitest/node";
import type { Capabilities } from "./capabilities.ts";

/** What a test process needs to open its database. */
export type DatabasePlan =
  | {
      readonly kind: "server";
      readonly url: string;
      readonly template: string;
      readonly prefix: string;
      /** An option of `create database`: files are copied, which spares the log of each page. */
      readonly strategy: string;
    }
  | { readonly kind: "embedded"; readonly imagePath: string };

interface Prepared {
  readonly plan: DatabasePlan;
  readonly capabilities: Capabilities;
  readonly remove: () => Promise<void>;
}

declare module "vitest" {
  /** undefined: the file opens no database (see files.ts). */
  export interface ProvidedContext {
    databasePlan: DatabasePlan | undefined;
    capabilities: Capabilities | undefined;
    /** Several files run one after the other in one process. */
    isProcessShared: boolean;
  }
}

const onServer = async (url: string): Promise<Prepared> => (await import("./server-template.ts")).prepareTemplate(url);

const onOwnServer = async (): Promise<Prepared> => {
  const { startPrimary } = await import("./postgres-server.ts");
  const server = await startPrimary();
  try {
    const prepared = await onServer(server.url);
    return { ...prepared, remove: server.stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
};

const onEmbedded = async (): Promise<Prepared> => (await import("./embedded-image.ts")).prepareImage();

const prepare = async (): Promise<Prepared> => {
  const url = process.env["TEST_DATABASE_URL"] ?? "";
  if (url !== "") return onServer(url);
  const { hasPostgres } = await import("./postgres-programs.ts");
  return hasPostgres ? onOwnServer() : onEmbedded();
};

const provide = (project: TestProject, { plan, capabilities, remove }: Prepared): (() => Promise<void>) => {
  project.provide("databasePlan", plan);
  project.provide("capabilities", capabilities);
  return remove;
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // the project of files that run on the embedded database, wherever there is a server
  if (project.name === "embedded") return provide(project, await onEmbedded());
  const prepared = await prepare();
  console.log(
    prepared.plan.kind === "server"
      ? `The tests run on PostgreSQL ${prepared.capabilities.version}.`
      : "The tests run on the embedded database, because npm has no PostgreSQL for this platform.",
  );
  return provide(project, prepared);
}
