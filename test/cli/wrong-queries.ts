/** Queries that are wrong, by what is wrong with them: each is a compile error in a line of its own. */
export const wrongQueries: Readonly<Record<string, string>> = {
  "an unknown table": 'await sea.from("vessel").select();',
  "an unknown schema": 'sea.schema("lake");',
  "a column that was not selected": '(await sea.from("vessels").select("id")).data?.[0]?.name;',
  "an unknown column": '(await sea.from("vessels").select("id, nam")).data?.[0]?.id;',
  "an unknown column of a view": '(await sea.from("fleet").select("id, tonnage")).data?.[0]?.id;',
  "a column used as another type": '(await sea.from("vessels").select("id")).data?.[0]?.id.toUpperCase();',
  "a null that is not looked at": '(await sea.from("vessels").select("tonnage")).data![0]!.tonnage.toFixed();',
  "an unknown embed":
    '(await sea.from("vessels").select("id, planets(id)")).data?.[0]?.planets.map((planet) => planet);',
  "an unknown column of an embed": '(await sea.from("vessels").select("ports(nam)")).data?.[0]?.ports?.nam.length;',
  "an ambiguous embed": '(await sea.from("voyages").select("ports(name)")).data?.[0]?.ports?.name;',
  "a to-one embed used as a list": '(await sea.from("vessels").select("ports(name)")).data?.[0]?.ports?.[0];',
  "a one-to-one embed used as a list":
    '(await sea.from("vessels").select("registrations(number)")).data?.[0]?.registrations?.[0];',
  "a to-many embed used as a row":
    '(await sea.from("ports").select("heavy_vessels(name)")).data?.[0]?.heavy_vessels.name;',
  "a filter of the wrong type": 'await sea.from("vessels").select("id").eq("tonnage", "heavy");',
  "a label that the enum lacks": 'await sea.from("certificates").select("id").eq("rating", "captain");',
  "an insert without a required column": 'await sea.from("certificates").insert({ points: 1 });',
  "an insert of a generated column": 'await sea.from("certificates").insert({ sailor_id: 1, summary: "x" });',
  "an insert of an identity column": 'await sea.from("certificates").insert({ sailor_id: 1, id: 1 });',
  "an update with the wrong type": 'await sea.from("vessels").update({ tonnage: "heavy" });',
  "a write to a view that takes none": 'await sea.from("all_names").insert({ name: "x" });',
  "an unknown function": 'await sea.rpc("subtract", { a: 1 });',
  "an argument of the wrong type": '(await sea.rpc("add_numbers", { a: "1", b: 2 })).data?.toFixed();',
  "an unknown argument": '(await sea.rpc("add_numbers", { a: 1, c: 2 })).data?.toFixed();',
  "a missing argument": '(await sea.rpc("add_numbers", { a: 1 })).data?.toFixed();',
  "a result used as another type": '(await sea.rpc("add_numbers", { a: 1, b: 2 })).data?.toUpperCase();',
};
