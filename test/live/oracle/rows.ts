/** Random statements that change rows. */
import type { Random } from "../../support/random.ts";
import { FIRST_IDS, idText, insertSql, OWNERS, SCHEMA, type World } from "./world.ts";

/** Draws statements. Ids are never reused, so that the numbers of a key increase. */
export const drawRows = (random: Random, world: World): (() => string) => {
  const lastId = new Map(world.tables.map(({ name }) => [name, FIRST_IDS]));
  return () => {
    const shape = random.pick(world.tables);
    const name = `${SCHEMA}.${shape.name}`;
    const lastKnownId = lastId.get(shape.name) ?? FIRST_IDS;
    const id = idText(shape, 1 + random.int(lastKnownId));
    const touch = `n = nextval('${SCHEMA}.tick')`;
    const parent = world.tables.find((table) => table.name === shape.parent);
    switch (random.int(14)) {
      case 0:
      case 1:
      case 2:
        lastId.set(shape.name, lastKnownId + 1);
        return insertSql(world, shape, lastKnownId + 1, random.int(1000));
      case 3:
        return `update ${name} set val = ${random.pick([0, 3, 8, 13, 13, 19])}, ${touch} where id = ${id}`;
      case 4:
        return `update ${name} set owner = '${random.pick(OWNERS)}', ${touch} where id = ${id}`;
      case 5:
        return `update ${name} set bucket = ${random.int(4)}, ${touch} where id = ${id}`;
      case 6:
        return `update ${name} set ref = ${parent === undefined ? "null" : `(select id from ${SCHEMA}.${parent.name} where id = ${idText(parent, 1 + random.int(12))})`}, ${touch} where id = ${id}`;
      case 7: {
        // One writer at a time, so that the numbers of a key increase.
        lastId.set(shape.name, lastKnownId + 1);
        return `select pg_advisory_xact_lock(7); update ${name} set id = ${idText(shape, lastKnownId + 1)}, ${touch} where id = ${id}`;
      }
      case 8:
        return `delete from ${name} where id = ${id}`;
      case 9:
        return `delete from ${name} where bucket = ${random.int(4)} and owner = '${random.pick(OWNERS)}'`;
      case 10:
        return `update ${name} set label = ${random.pick(["repeat('long ', 3000)", "'ab'", "null", "'y''s [x]: '"])}, ${touch} where id = ${id}`;
      case 11:
        return `update ${name} set val = val where id = ${id}`;
      case 12:
        return random.chance(0.3)
          ? `truncate ${name} cascade`
          : `update ${name} set val = val + 1, ${touch} where bucket = ${random.int(4)}`;
      default:
        return `with moved as (update ${name} set owner = '${random.pick(OWNERS)}', ${touch} where id = ${id} returning *) select count(*) from moved`;
    }
  };
};
