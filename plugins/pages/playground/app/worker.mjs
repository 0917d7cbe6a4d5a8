// The workers of the editor: one program, because they share most of their code. A worker's name is its language.
const load = { json: () => import("json-worker"), graphql: () => import("graphql-worker") };

void (load[self.name] ?? (() => import("editor-worker")))();
