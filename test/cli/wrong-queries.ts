/** Wrong queries, by the kind of mistake. Each is a compile error in a line of its own. */
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
  "a computed field in *": '(await sea.from("vessels").select("*")).data?.[0]?.label;',
  "a computed field that another relation has": '(await sea.from("sailors").select("label")).data?.[0]?.label?.length;',
  "a computed field in rows of a function": '(await sea.rpc("vessels_of", { port: 1 })).data?.[0]?.label;',
  "an unknown column of rows of a function":
    '(await sea.rpc("vessels_of", { port: 1 }).select("nam")).data?.[0]?.nam.length;',
  "a to-one embed of itself used as a list":
    '(await sea.from("buoys").select("chain:buoys!chain_id(id)")).data?.[0]?.chain?.[0];',
  "an unknown column of an embed of itself":
    '(await sea.from("buoys").select("chain:buoys!chain_id(idd)")).data?.[0]?.chain?.idd.toFixed();',
  "an embed of itself by a column that is no key":
    '(await sea.from("buoys").select("chain:buoys!id(id)")).data?.[0]?.chain?.id.toFixed();',
  "a misspelt column that is no identifier": 'await sea.from("Deck Plans").select("*").eq("Plan Nr", 1);',
  "a misspelt relation that is no identifier": 'await sea.from("Deck Plan").select("*");',
  "an insert without a required column that is no identifier": 'await sea.from("Deck Plans").insert({ "a.b": "x" });',
  "a misspelt function that is no identifier": 'await sea.rpc("odd functions");',
  "a misspelt argument that is no identifier": '(await sea.rpc("quoted", { "a-b": 1 })).data?.length;',
  "an argument that no overload takes": '(await sea.rpc("weigh", { cargo: true })).data?.length;',
  "an unknown out parameter": '(await sea.rpc("split_name", { full_name: "a" })).data?.middle;',
  "an out parameter used as another type": '(await sea.rpc("double_it", { n: 1 })).data?.twice.length;',
  "a row of a table function used as another type": '(await sea.rpc("depth")).data?.[0]?.depth.length;',
  "a composite argument with an attribute of the wrong type":
    '(await sea.rpc("describe", { place: { lat: "1", lon: 2 } })).data?.length;',
  "an enum argument with an unknown label":
    '(await sea.rpc("describe", { place: { lat: 1, lon: 2 }, level: "captain" })).data?.length;',
  "an item of a variadic argument of the wrong type": '(await sea.rpc("join_words", { words: [1] })).data?.length;',
  "an attribute that a composite lacks": '(await sea.from("beacons").select("pos")).data?.[0]?.pos?.height;',
  "an array used as a value": '(await sea.from("vessels").select("flags")).data?.[0]?.flags?.toUpperCase();',
  "an array of two dimensions used as a list":
    '(await sea.from("beacons").select("cells")).data?.[0]?.cells?.[0]?.toFixed();',
  "an array item of the wrong type": 'await sea.from("vessels").update({ flags: [1] });',
  "a write to a materialized view": 'await sea.from("port_tonnage").insert({ port_id: 1 });',
  "an update of a generated column": 'await sea.from("certificates").update({ summary: "x" });',
  "null for a column that takes none": 'await sea.from("vessels").update({ name: null });',
  "an insert with a label that the enum lacks":
    'await sea.from("certificates").insert({ sailor_id: 1, rating: "captain" });',
  "an unknown column of a junction":
    '(await sea.from("docks").select("cranes!dock_cranes(nam)")).data?.[0]?.cranes[0]?.nam.length;',
  "an unknown column of a partitioned table": '(await sea.from("soundings").select("deep")).data?.[0]?.deep.toFixed();',
  "a column of another schema":
    '(await sea.schema("land").from("depots").select("tonnage")).data?.[0]?.tonnage.toFixed();',
};
