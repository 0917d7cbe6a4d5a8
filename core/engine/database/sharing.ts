/** Connections through a pooler in transaction mode. Such a connection is shared: each transaction may run on another
 *  backend, on which other clients ran before and will run afterwards. So no statement is prepared, and each
 *  transaction removes earlier traces and its own. */

/** The facts on which the cleaning after user code depends. There is one object per combination, so they can be
 *  compared by identity. */
export interface Sharing {
  /** `jit` has its default, so each transaction switches it off. */
  readonly setsJit: boolean;
  /** The login role may use PL/pgSQL, which removes the traces that need dynamic SQL. */
  readonly hasPlpgsql: boolean;
}

const ALL_SHARINGS: readonly Sharing[] = [false, true].flatMap((setsJit) =>
  [false, true].map((hasPlpgsql) => ({ setsJit, hasPlpgsql })),
);

export const findSharing = (setsJit: boolean, hasPlpgsql: boolean): Sharing =>
  ALL_SHARINGS.find((each) => each.setsJit === setsJit && each.hasPlpgsql === hasPlpgsql) as Sharing; // it has all combinations

/** The facts about the backend of a new connection. */
export interface Backend {
  readonly isShared: boolean;
  /** `jit` was switched off for the connection. */
  readonly hasNoJit: boolean;
  /** The facts for its transactions if it is shared, or turns out to be. */
  readonly sharing: Sharing;
}

/** A backend about which nothing was asked. */
export const UNKNOWN_BACKEND: Backend = {
  isShared: false,
  hasNoJit: false,
  sharing: findSharing(false, false),
};

/** The one backend of an embedded database. */
export const EMBEDDED_BACKEND: Backend = {
  isShared: false,
  hasNoJit: false,
  sharing: findSharing(false, true),
};

/** Returns undefined if the connection has its own backend. */
export const getSharing = ({ backend }: { readonly backend: Backend }): Sharing | undefined =>
  backend.isShared ? backend.sharing : undefined;
