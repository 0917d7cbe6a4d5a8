/** Once per run: the template database of the server at TEST_DATABASE_URL, or the image of the embedded database. */
import type { TestProject } from "vitest/node";
import type { Capabilities } from "./capabilities.ts";

/** What a test process needs to open its database. */
export type DatabasePlan =
  | { readonly kind: "server"; readonly url: string; readonly template: string; readonly prefix: string }
  | { readonly kind: "embedded"; readonly imagePath: string };

declare module "vitest" {
  /** undefined: the file opens no database (see files.ts). */
  export interface ProvidedContext {
    databasePlan: DatabasePlan | undefined;
    capabilities: Capabilities | undefined;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env["TEST_DATABASE_URL"];
  const prepared =
    url === undefined || url === ""
      ? await (await import("./embedded-image.ts")).prepareImage()
      : await (await import("./server-template.ts")).prepareTemplate(url);
  project.provide("databasePlan", prepared.plan);
  project.provide("capabilities", prepared.capabilities);
  return prepared.remove;
}
