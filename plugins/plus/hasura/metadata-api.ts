/** `POST /v1/metadata {"type": "export_metadata", "args": {}}`: administrators read and change the metadata, which is
 *  written back to its file or folder. */
import { definePlugin } from "../../../core/index.ts";
import { metadataSourceService } from "../../metadata/api.ts";
import { eventsService, remoteSchemaControlService, scheduledEventsService } from "../../services/api.ts";
import { createAdminSurface } from "./admin-surface.ts";
import { createEditor } from "./editor.ts";
import { answerRequest } from "./requests.ts";
import { recoverSource } from "./store.ts";

/** Lets administrators read and change the metadata: `POST /v1/metadata`. @rule P-HAS-1 P-HAS-2 P-HAS-3 P-HAS-4
 *  P-HAS-5 */
export const metadataApi = definePlugin({
  name: "metadata-api",
  // The path is below a path of the GraphQL surface, and an interrupted write must end before the metadata is read.
  before: ["graphql", "metadata-loader"],
  apply: (hooks, context) => {
    const editor = createEditor(context);
    hooks.introspect.tapPromise("metadata-api", async (model) => {
      const path = context.use(metadataSourceService)?.path;
      if (path !== undefined) await recoverSource(path);
      return model;
    });
    context.addSurface(
      createAdminSurface(context, {
        path: "/v1/metadata",
        kind: "metadata",
        answer: (body, { encode }) =>
          answerRequest(
            body,
            editor,
            encode,
            {
              remotes: context.use(remoteSchemaControlService),
              events: context.use(eventsService),
              schedules: context.use(scheduledEventsService),
            },
            context.logger,
          ),
      }),
    );
  },
});
