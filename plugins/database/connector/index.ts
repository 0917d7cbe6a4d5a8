/** The plugin that connects to the database. */
import { definePlugin } from "../../../core/index.ts";
import { createConnector } from "./connector.ts";
import { connectorSettings } from "../settings.ts";

export const connector = definePlugin({
  name: "connector",
  settings: connectorSettings,
  connector: createConnector,
});
