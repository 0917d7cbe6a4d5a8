/** The preset with REST over tables and views in plain JSON: a starting point for custom presets. */
import { compose, type Preset } from "../core/index.ts";
import { anonymous } from "../plugins/auth/anonymous.ts";
import { requestSettings } from "../plugins/auth/request-settings.ts";
import { sessionSettings } from "../plugins/auth/session-settings.ts";
import { connector } from "../plugins/database/connector/connector.ts";
import { nestEmbeds } from "../plugins/operators/embeds/nest.ts";
import { catalogIntrospection } from "../plugins/database/introspect/catalog.ts";
import { relationships } from "../plugins/database/introspect/relationships.ts";
import { jsonMedia } from "../plugins/rest/media/json.ts";
import { comparisonOperators } from "../plugins/operators/comparison.ts";
import { setOperator } from "../plugins/operators/set.ts";
import { rest } from "../plugins/rest/rest.ts";
import { restWrites } from "../plugins/rest/write.ts";
import { planProof } from "../plugins/speed/plan-proof.ts";
import { packageNames } from "./known-plugins.ts";
import type { PresetOptions } from "./options.ts";

/** Composes REST for tables and views, with plain JSON and the comparison operators: a starting point for custom
 *  presets. */
export const minimal = (options: PresetOptions): Preset =>
  compose({
    plugins: [
      connector,
      planProof,
      catalogIntrospection,
      relationships,
      anonymous,
      requestSettings,
      sessionSettings,
      comparisonOperators,
      nestEmbeds,
      setOperator,
      rest,
      restWrites,
      jsonMedia,
    ],
    options,
    ...packageNames,
  });
