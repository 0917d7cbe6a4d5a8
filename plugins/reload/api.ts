/** What reloads add to the api: types only. */
declare module "../../core/http/call.ts" {
  interface ApiMethods {
    /** Reads schema, settings and metadata again, in all processes. Resolves when this one has. */
    reloadAll(): Promise<void>;
  }
}

export {};
