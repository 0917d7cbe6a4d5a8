/** Creates the compiler that the parts of a statement share. */
import type { RelApiHooks } from "../hooks.ts";
import type { Registry } from "../plugin.ts";
import type { Model, QualifiedName } from "../model/model.ts";
import type { Visibility } from "../model/visibility.ts";
import { compileEmbed } from "./embed.ts";
import { compilePredicate } from "./predicate.ts";
import type { Compiler, JsonStyle } from "./scope.ts";

// PostgreSQL limits an alias to 63 bytes, and the suffix needs some of them.
const MAX_ALIAS_BYTES = 52;

const shortenAlias = (name: string): string => {
  let text = name;
  while (Buffer.byteLength(text) > MAX_ALIAS_BYTES) text = text.slice(0, -1);
  return text;
};

/** Creates a compiler for one statement, with its own aliases and dependencies. */
export const createCompiler = (parts: {
  readonly model: Model;
  readonly hooks: RelApiHooks;
  readonly registry: Registry;
  readonly style: JsonStyle;
  readonly showsStored?: boolean;
  readonly stepRelations?: readonly QualifiedName[];
  readonly visibility?: () => Visibility;
}): Compiler => {
  const usedAliases = new Set<string>();
  let count = 0;
  const compiler: Compiler = {
    ...parts,
    dependencies: { relations: new Set(), isOpenEnded: false },
    alias: (name) => {
      let alias = name.length > 12 ? shortenAlias(name) : name;
      while (usedAliases.has(alias)) alias = `${shortenAlias(name)}_${++count}`;
      usedAliases.add(alias);
      return alias;
    },
    compilePredicate: (predicate, scope) => compilePredicate(compiler, predicate, scope),
    compileEmbed: (embed, parent, use) => compileEmbed(compiler, embed, parent, use),
  };
  return compiler;
};
