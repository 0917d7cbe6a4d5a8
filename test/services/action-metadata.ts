/** Metadata with actions for tests. Their webhooks are below the environment variable `ACTION_BASE`. */
import { afterAll } from "vitest";
import { buildMetadataDocument, table, type Entry } from "../support/metadata-document.ts";
import { startHook, type HookServer } from "./hook-server.ts";

/** Starts a webhook, and sets the environment variables of the metadata until the file ends. */
export const startActionHook = async (): Promise<HookServer> => {
  const hook = await startHook();
  process.env["ACTION_BASE"] = hook.url.replace(/\/hook.*/, "");
  process.env["ACTION_KEY"] = "secret-of-the-action";
  afterAll(() => {
    delete process.env["ACTION_BASE"];
    delete process.env["ACTION_KEY"];
  });
  return hook;
};

export const argument = (name: string, type: string): Entry => ({ name, type });

export const CUSTOM_TYPES = {
  input_objects: [{ name: "Login", fields: [argument("name", "String!"), argument("level", "Level")] }],
  objects: [
    {
      name: "Token",
      description: "Proves a login.",
      fields: [
        argument("value", "String!"),
        argument("artist_id", "Int"),
        argument("at", "timestamptz"),
        argument("level", "Level"),
        argument("parents", "[Token!]"),
      ],
    },
  ],
  enums: [{ name: "Level", values: [{ value: "low" }, { value: "high" }] }],
  scalars: [{ name: "Anything" }],
};

export const definition = (extraKeys: Entry = {}): Entry => ({
  handler: "{{ACTION_BASE}}/login",
  type: "mutation",
  kind: "synchronous",
  arguments: [argument("login", "Login!"), argument("extra", "Anything"), argument("since", "timestamptz")],
  output_type: "Token!",
  ...extraKeys,
});

export const LOGIN = {
  name: "login",
  comment: "Logs in.",
  definition: definition({
    headers: [
      { name: "X-Key", value_from_env: "ACTION_KEY" },
      { name: "x-fixed", value: "at {{ACTION_BASE}}" },
    ],
    forward_client_headers: true,
    timeout: 60,
  }),
  permissions: [{ role: "reader" }],
};

export const WEATHER = {
  name: "weather",
  definition: definition({
    type: "query",
    handler: "{{ACTION_BASE}}/weather",
    arguments: [],
    output_type: "[String!]",
  }),
  permissions: [{ role: "reader" }, { role: "guest" }],
};

export const buildDocument = (list: readonly Entry[] = [LOGIN, WEATHER], customTypes: Entry = CUSTOM_TYPES): Entry =>
  buildMetadataDocument([table("artist")], {
    actions: list,
    custom_types: customTypes,
    inherited_roles: [{ role_name: "heir", role_set: ["guest"] }],
  });
