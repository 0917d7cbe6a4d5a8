/** The plugin that connects to the database. */
import { definePlugin } from "../../../core/index.ts";
import { createConnector } from "./connector.ts";

export const connector = definePlugin({ name: "connector", connector: createConnector });
