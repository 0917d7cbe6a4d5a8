/** Actions: root fields that a webhook or a function of the application answers. */
export {
  actions,
  type Action,
  type ActionRequest,
  type AsynchronousAction,
  type AsynchronousActionRequest,
  type SynchronousAction,
} from "./actions.ts";
export type { ActionArguments, InputSchema } from "./input-schema.ts";
export { metadataActions } from "./metadata-actions.ts";
