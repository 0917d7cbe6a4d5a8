/** HTML pages for browsers. */
export { frontPage } from "./front/index.ts";
export { openapiPage } from "./openapi/index.ts";
export { playground } from "./playground/index.ts";
