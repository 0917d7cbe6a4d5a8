/** What `npm run bench:statements` asks, and how someone who knows the tables writes it by hand. The order of rows is
 *  certain wherever the answers are compared. */

export interface StatementCase {
  readonly name: string;
  /** REST: below `/api`. Absent: GraphQL. */
  readonly path?: string;
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly prefer?: string;
  readonly accept?: string;
  /** Of REST: the JSON body. */
  readonly body?: unknown;
  readonly graphql?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** `tenant`: a role with a row policy; `seller`: a role of the metadata. Absent: anonymous. */
  readonly as?: "tenant" | "seller";
  /** The page behind the first one. */
  readonly isNextPage?: true;
  /** Its text in the column `body`; counts that the request asks for in `total`. */
  readonly hand: string;
  readonly values?: readonly string[];
}

const array = (rows: string): string => `(select coalesce(json_agg(t), '[]') from (${rows}) t)`;
const rest = (rows: string): string => `select ${array(rows)}::text as body`;
const graphql = (fields: Readonly<Record<string, string>>): string =>
  `select json_build_object(${Object.entries(fields)
    .map(([name, value]) => `'${name}', ${value}`)
    .join(", ")})::text as body`;

const numbers = (count: number, step: number): readonly number[] =>
  Array.from({ length: count }, (_, i) => 1 + i * step);

/** New rows of purchases. */
const purchases = (count: number, from: number): readonly Readonly<Record<string, unknown>>[] =>
  numbers(count, 1).map((i) => ({
    id: from + i,
    customer_id: i,
    tenant_id: i % 100,
    status: "open",
    total: i / 4,
    placed_at: "2024-01-01T00:00:00+00:00",
  }));

const PURCHASE_COLUMNS = "id, customer_id, tenant_id, status, total, placed_at";
const PURCHASE_RECORD =
  "p(id int, customer_id int, tenant_id int, status text, total numeric(10,2), placed_at timestamptz)";

const IN_LIST = numbers(100, 9973);
const NEW_ROWS = purchases(1000, 2_000_000);
const NEW_ROWS_TEXT = JSON.stringify(NEW_ROWS);
/** Half of them are there. */
const MIXED_ROWS = purchases(1000, 999_500);

export const CASES: readonly StatementCase[] = [
  // --- reads of one table
  {
    name: "read by key",
    path: "/customer?select=id,name,email&id=eq.4711",
    hand: rest("select id, name, email from customer where id = $1"),
    values: ["4711"],
  },
  {
    name: "read by key, GraphQL",
    graphql: "query ($id: Int!) { customer_by_pk(id: $id) { id name email } }",
    variables: { id: 4711 },
    hand: graphql({
      customer_by_pk: "(select row_to_json(t) from (select id, name, email from customer where id = $1) t)",
    }),
    values: ["4711"],
  },
  {
    name: "filter, order, limit",
    path: "/customer?select=id,score,name&tenant_id=eq.7&order=score.desc,id&limit=20",
    hand: rest("select id, score, name from customer where tenant_id = $1 order by score desc, id limit $2"),
    values: ["7", "20"],
  },
  {
    name: "filter, order, limit, GraphQL",
    graphql:
      "query ($t: Int!) { customer(where: {tenant_id: {_eq: $t}}, order_by: [{score: desc}, {id: asc}], limit: 20) { id score name } }",
    variables: { t: 7 },
    hand: graphql({
      customer: array("select id, score, name from customer where tenant_id = $1 order by score desc, id limit $2"),
    }),
    values: ["7", "20"],
  },
  {
    name: "offset",
    path: "/customer?select=id,score&order=score,id&limit=20&offset=20000",
    hand: rest("select id, score from customer order by score, id limit $1 offset $2"),
    values: ["20", "20000"],
  },
  {
    name: "order by a column without nulls, nulls last",
    path: "/customer?select=id,score&order=score.desc.nullslast,id.desc&limit=20",
    hand: rest("select id, score from customer order by score desc, id desc limit $1"),
    values: ["20"],
  },
  {
    name: "order in GraphQL's own way",
    graphql: "{ customer(order_by: [{score: desc_nulls_last}, {id: desc_nulls_last}], limit: 20) { id score } }",
    hand: graphql({ customer: array("select id, score from customer order by score desc, id desc limit $1") }),
    values: ["20"],
  },
  {
    name: "10,000 rows",
    path: "/customer?select=id,name,email,score,status&tenant_id=eq.7&order=id",
    hand: rest("select id, name, email, score, status from customer where tenant_id = $1 order by id"),
    values: ["7"],
  },
  {
    name: "10,000 rows, GraphQL",
    graphql: "{ customer(where: {tenant_id: {_eq: 7}}, order_by: {id: asc}) { id name email score status } }",
    hand: graphql({
      customer: array("select id, name, email, score, status from customer where tenant_id = $1 order by id"),
    }),
    values: ["7"],
  },
  // --- row policies and permissions
  {
    name: "row policy, order, limit",
    path: "/purchase?select=id,total,placed_at&order=placed_at.desc&limit=20",
    as: "tenant",
    hand: rest("select id, total, placed_at from purchase order by placed_at desc limit $1"),
    values: ["20"],
  },
  {
    name: "row policy, embed and filter on it",
    path: "/purchase?select=id,customer!inner(name)&customer.country_id=eq.8&order=id&limit=20",
    as: "tenant",
    hand: rest(`select p.id, (select row_to_json(c) from (select c.name) c) as customer from purchase p
      join customer c on c.id = p.customer_id where c.country_id = $1 order by p.id limit $2`),
    values: ["8", "20"],
  },
  {
    name: "row policy with a subquery, order, limit",
    path: "/ticket?select=id,title&order=created_at.desc&limit=20",
    as: "tenant",
    hand: rest("select id, title from ticket order by created_at desc limit $1"),
    values: ["20"],
  },
  {
    name: "row policy with a subquery, exact count",
    path: "/ticket?select=id,title&created_at=gte.2023-11-01&order=created_at.desc&limit=20",
    prefer: "count=exact",
    as: "tenant",
    hand: `select ${array("select id, title from ticket where created_at >= $1 order by created_at desc limit $2")}::text as body,
      (select count(*) from ticket where created_at >= $1) as total`,
    values: ["2023-11-01", "20"],
  },
  {
    name: "permission, order, limit",
    graphql: "{ purchase(order_by: {placed_at: desc}, limit: 20) { id total placed_at } }",
    as: "seller",
    hand: graphql({
      purchase: array(
        "select id, total, placed_at from purchase where tenant_id = $1 order by placed_at desc limit $2",
      ),
    }),
    values: ["7", "20"],
  },
  {
    name: "permission through a relationship",
    graphql: "{ item(where: {product_id: {_eq: 77}}, order_by: {purchase_id: asc}) { purchase_id qty } }",
    as: "seller",
    hand: graphql({
      item: array(`select i.purchase_id, i.qty from item i join purchase p on p.id = i.purchase_id
        where i.product_id = $1 and p.tenant_id = $2 order by i.purchase_id`),
    }),
    values: ["77", "7"],
  },
  // --- limits before embeds
  {
    name: "limit before embeds",
    path: "/purchase?select=id,total,customer(name,country(name)),item(qty,product(name))&item.order=product_id&order=total.desc,id&limit=20",
    hand: rest(`select p.id, p.total,
      (select row_to_json(c) from (select c.name, (select row_to_json(n) from (select n.name from country n where n.id = c.country_id) n) as country
        from customer c where c.id = p.customer_id) c) as customer,
      (select coalesce(json_agg(i), '[]') from (select i.qty, (select row_to_json(d) from (select d.name from product d where d.id = i.product_id) d) as product
        from item i where i.purchase_id = p.id order by i.product_id) i) as item
      from (select * from purchase order by total desc, id limit $1) p order by p.total desc, p.id`),
    values: ["20"],
  },
  {
    name: "limit before embeds, GraphQL",
    graphql: `{ purchase(order_by: [{total: desc}, {id: asc}], limit: 20) { id total customer { name }
      items(order_by: {product_id: asc}) { qty product { name } } items_aggregate { aggregate { count sum { qty } } } } }`,
    hand: graphql({
      purchase:
        array(`select p.id, p.total, (select row_to_json(c) from (select c.name from customer c where c.id = p.customer_id) c) as customer,
      (select coalesce(json_agg(i), '[]') from (select i.qty, (select row_to_json(d) from (select d.name from product d where d.id = i.product_id) d) as product
        from item i where i.purchase_id = p.id order by i.product_id) i) as items,
      (select json_build_object('aggregate', json_build_object('count', count(*), 'sum', json_build_object('qty', sum(qty)))) from item i where i.purchase_id = p.id) as items_aggregate
      from (select * from purchase order by total desc, id limit $1) p order by p.total desc, p.id`),
    }),
    values: ["20"],
  },
  {
    name: "limit before a spread of one",
    path: "/purchase?select=id,total,...customer(name,email)&order=total.desc,id&limit=20",
    hand: rest(`select p.id, p.total, c.name, c.email from (select * from purchase order by total desc, id limit $1) p
      left join customer c on c.id = p.customer_id order by p.total desc, p.id`),
    values: ["20"],
  },
  {
    name: "limit before a spread of many",
    path: "/customer?select=id,name,...purchase(total)&purchase.order=id&order=bio.desc,id&limit=20",
    hand: rest(`select c.id, c.name, (select coalesce(json_agg(p.total order by p.id), '[]') from purchase p where p.customer_id = c.id) as total
      from (select * from customer order by bio desc, id limit $1) c order by c.bio desc, c.id`),
    values: ["20"],
  },
  {
    name: "offset before an embed",
    path: "/customer?select=id,country(name),purchase(id)&purchase.order=id&order=id&limit=20&offset=20000",
    hand: rest(`select c.id, (select row_to_json(n) from (select n.name from country n where n.id = c.country_id) n) as country,
      (select coalesce(json_agg(p), '[]') from (select p.id from purchase p where p.customer_id = c.id order by p.id) p) as purchase
      from (select * from customer order by id limit $1 offset $2) c order by c.id`),
    values: ["20", "20000"],
  },
  {
    name: "10,000 rows with an embed",
    path: "/customer?select=id,name,country(name)&tenant_id=eq.7&order=id",
    hand: rest(`select c.id, c.name, (select row_to_json(n) from (select n.name from country n where n.id = c.country_id) n) as country
      from customer c where c.tenant_id = $1 order by c.id`),
    values: ["7"],
  },
  {
    name: "limit in an embed",
    path: "/customer?select=id,purchase(id,total)&purchase.order=placed_at.desc&purchase.limit=3&tenant_id=eq.7&order=id&limit=100",
    hand: rest(`select c.id, (select coalesce(json_agg(p), '[]') from (select p.id, p.total from purchase p where p.customer_id = c.id
      order by p.placed_at desc limit $3) p) as purchase from customer c where c.tenant_id = $1 order by c.id limit $2`),
    values: ["7", "100", "3"],
  },
  {
    name: "many-to-many embed",
    path: "/purchase?select=id,product(id,name)&product.order=id&id=in.(1,2,3,4,5,6,7,8,9,10)&order=id",
    hand: rest(`select p.id, (select coalesce(json_agg(d), '[]') from (select d.id, d.name from item i join product d on d.id = i.product_id
      where i.purchase_id = p.id order by d.id) d) as product from purchase p where p.id = any($1) order by p.id`),
    values: ["{1,2,3,4,5,6,7,8,9,10}"],
  },
  {
    name: "aggregates in an embed",
    path: "/customer?select=id,purchase(total.sum(),count())&tenant_id=eq.7&order=id&limit=100",
    hand: rest(`select c.id, (select coalesce(json_agg(p), '[]') from (select sum(p.total), count(*) from purchase p where p.customer_id = c.id) p) as purchase
      from customer c where c.tenant_id = $1 order by c.id limit $2`),
    values: ["7", "100"],
  },
  {
    name: "filtered aggregates in an embed, GraphQL",
    graphql: `{ customer(where: {tenant_id: {_eq: 7}}, order_by: {id: asc}, limit: 100) { id
      purchases_aggregate(where: {status: {_eq: "paid"}}) { aggregate { count sum { total } } } } }`,
    hand: graphql({
      customer:
        array(`select c.id, (select json_build_object('aggregate', json_build_object('count', count(*), 'sum', json_build_object('total', sum(p.total))))
      from purchase p where p.customer_id = c.id and p.status = $2) as purchases_aggregate
      from customer c where c.tenant_id = $1 order by c.id limit $3`),
    }),
    values: ["7", "paid", "100"],
  },
  // --- views
  {
    name: "view, filter, order, limit",
    path: "/open_purchase?select=id,customer_name&total=gt.9000&order=placed_at.desc,id&limit=20",
    hand: rest(`select p.id, c.name as customer_name from purchase p join customer c on c.id = p.customer_id
      where p.status = 'open' and p.total > $1 order by p.placed_at desc, p.id limit $2`),
    values: ["9000", "20"],
  },
  {
    name: "view, by key",
    path: "/open_purchase?select=id,total,customer_name&id=eq.4701",
    hand: rest(`select p.id, p.total, c.name as customer_name from purchase p join customer c on c.id = p.customer_id
      where p.status = 'open' and p.id = $1`),
    values: ["4701"],
  },
  // --- counts
  {
    name: "exact count",
    path: "/customer?select=id,name&status=eq.new&order=id&limit=20",
    prefer: "count=exact",
    hand: `select ${array("select id, name from customer where status = $1 order by id limit $2")}::text as body, (select count(*) from customer where status = $1) as total`,
    values: ["new", "20"],
  },
  {
    name: "exact count with a filter on an embed",
    path: "/purchase?select=id,customer!inner(name)&customer.country_id=eq.8&order=id&limit=20",
    prefer: "count=exact",
    hand: `select ${array(`select p.id, (select row_to_json(c) from (select c.name) c) as customer from purchase p
      join customer c on c.id = p.customer_id where c.country_id = $1 order by p.id limit $2`)}::text as body,
      (select count(*) from purchase p join customer c on c.id = p.customer_id where c.country_id = $1) as total`,
    values: ["8", "20"],
  },
  {
    name: "planned count",
    path: "/customer?select=id,name&status=eq.new&order=id&limit=20",
    prefer: "count=planned",
    hand: rest("select id, name from customer where status = $1 order by id limit $2"),
    values: ["new", "20"],
  },
  {
    name: "estimated count",
    path: "/customer?select=id,name&order=id&limit=20",
    prefer: "count=estimated",
    hand: `select ${array("select id, name from customer order by id limit $1")}::text as body, (select count(*) from (select from customer limit 1001) c) as total`,
    values: ["20"],
  },
  // --- conditions on related rows
  {
    name: "inner-joined embed",
    path: "/purchase?select=id,customer!inner(name)&customer.country_id=eq.8&order=id&limit=20",
    hand: rest(`select p.id, (select row_to_json(c) from (select c.name) c) as customer from purchase p
      join customer c on c.id = p.customer_id where c.country_id = $1 order by p.id limit $2`),
    values: ["8", "20"],
  },
  {
    name: "inner-joined embed of many",
    path: "/purchase?select=id,item!inner(qty)&item.product_id=eq.77&order=id",
    hand: rest(`select p.id, (select json_agg(i) from (select i.qty from item i where i.purchase_id = p.id and i.product_id = $1) i) as item
      from purchase p where p.id in (select purchase_id from item where product_id = $1) order by p.id`),
    values: ["77"],
  },
  {
    name: "no related rows",
    path: "/customer?select=id,purchase()&purchase=is.null&order=id&limit=20",
    hand: rest(
      "select c.id from customer c where not exists (select from purchase p where p.customer_id = c.id) order by c.id limit $1",
    ),
    values: ["20"],
  },
  {
    name: "nested filter of two levels",
    graphql:
      "query ($m: String!) { item(where: {purchase: {customer: {email: {_eq: $m}}}}, order_by: [{purchase_id: asc}, {product_id: asc}]) { qty product { name } } }",
    variables: { m: "c4711@example.org" },
    hand: graphql({
      item: array(`select i.qty, (select row_to_json(d) from (select d.name from product d where d.id = i.product_id) d) as product
      from item i join purchase p on p.id = i.purchase_id join customer c on c.id = p.customer_id where c.email = $1 order by i.purchase_id, i.product_id`),
    }),
    values: ["c4711@example.org"],
  },
  {
    name: "nested filter to many",
    graphql:
      '{ customer(where: {country_id: {_eq: 8}, purchases: {status: {_eq: "refund"}, total: {_gt: 9000}}}, order_by: {id: asc}) { id name } }',
    hand: graphql({
      customer: array(`select c.id, c.name from customer c where c.country_id = $1
        and c.id in (select customer_id from purchase where status = $2 and total > $3) order by c.id`),
    }),
    values: ["8", "refund", "9000"],
  },
  {
    name: "negated nested filter",
    graphql: "{ customer(where: {_not: {purchases: {}}}, order_by: {id: asc}, limit: 20) { id name } }",
    hand: graphql({
      customer: array(
        `select c.id, c.name from customer c where not exists (select from purchase p where p.customer_id = c.id) order by c.id limit $1`,
      ),
    }),
    values: ["20"],
  },
  // --- order
  {
    name: "keyset page",
    path: "/customer?select=id,score&order=score&limit=1000&cursor=",
    isNextPage: true,
    hand: rest("select id, score from customer where (score, id) > ($1, $2) order by score, id limit $3"),
    values: ["10", "9614", "1000"],
  },
  {
    name: "order by a related column",
    path: "/purchase?select=id,customer(name)&status=eq.refund&order=customer(name),id&limit=20",
    hand: rest(`select p.id, (select row_to_json(c) from (select c.name) c) as customer from purchase p
      left join customer c on c.id = p.customer_id where p.status = $1 order by c.name, p.id limit $2`),
    values: ["refund", "20"],
  },
  {
    name: "order by a related column, GraphQL",
    graphql:
      '{ purchase(where: {status: {_eq: "refund"}}, order_by: [{customer: {name: asc}}, {id: asc}], limit: 20) { id customer { name } } }',
    hand: graphql({
      purchase: array(`select p.id, (select row_to_json(c) from (select c.name) c) as customer from purchase p
      left join customer c on c.id = p.customer_id where p.status = $1 order by c.name, p.id limit $2`),
    }),
    values: ["refund", "20"],
  },
  {
    name: "all by a related column, GraphQL",
    graphql: "{ purchase(order_by: [{customer: {email: asc}}, {id: asc}], limit: 20) { id customer { name } } }",
    hand: graphql({
      purchase: array(`select p.id, (select row_to_json(c) from (select c.name) c) as customer from purchase p
      left join customer c on c.id = p.customer_id order by c.email, p.id limit $1`),
    }),
    values: ["20"],
  },
  {
    name: "order by an aggregate of related rows",
    graphql:
      "{ customer(where: {tenant_id: {_eq: 7}}, order_by: [{purchases_aggregate: {count: desc}}, {id: asc}], limit: 10) { id name } }",
    hand: graphql({
      customer: array(`select c.id, c.name from customer c where c.tenant_id = $1
        order by (select count(*) from purchase p where p.customer_id = c.id) desc, c.id limit $2`),
    }),
    values: ["7", "10"],
  },
  {
    name: "distinct on",
    graphql:
      "{ purchase(distinct_on: customer_id, order_by: [{customer_id: asc}, {placed_at: asc}], limit: 20) { customer_id id total } }",
    hand: graphql({
      purchase: array(
        "select distinct on (customer_id) customer_id, id, total from purchase order by customer_id, placed_at limit $1",
      ),
    }),
    values: ["20"],
  },
  {
    name: "distinct on, with an embed",
    graphql:
      '{ purchase(where: {status: {_in: ["open", "refund"]}}, distinct_on: status, order_by: [{status: asc}, {total: desc}, {id: asc}]) { id customer { name } } }',
    hand: graphql({
      purchase:
        array(`select p.id, (select row_to_json(c) from (select c.name from customer c where c.id = p.customer_id) c) as customer
      from (select distinct on (status) * from purchase where status = any($1) order by status, total desc, id) p order by p.status, p.total desc, p.id`),
    }),
    values: ["{open,refund}"],
  },
  {
    name: "nearest",
    path: '/customer?select=id,name&order=place.nearest("(500.05,500)")&limit=10',
    hand: rest("select id, name from customer order by place <-> $1 limit $2"),
    values: ["(500.05,500)", "10"],
  },
  // --- aggregates
  {
    name: "aggregates, GraphQL",
    graphql:
      '{ customer_aggregate(where: {status: {_eq: "new"}}) { aggregate { count sum { score } avg { score } max { created_at } } } }',
    hand: graphql({
      customer_aggregate: `(select json_build_object('aggregate', json_build_object('count', count(*), 'sum', json_build_object('score', sum(score)),
        'avg', json_build_object('score', avg(score)), 'max', json_build_object('created_at', max(created_at)))) from customer where status = $1)`,
    }),
    values: ["new"],
  },
  {
    name: "aggregates with a filter on related rows, GraphQL",
    graphql:
      '{ purchase_aggregate(where: {status: {_eq: "refund"}, customer: {country_id: {_eq: 8}}}) { aggregate { count sum { total } } } }',
    hand: graphql({
      purchase_aggregate: `(select json_build_object('aggregate', json_build_object('count', count(*), 'sum', json_build_object('total', sum(p.total))))
        from purchase p join customer c on c.id = p.customer_id where p.status = $1 and c.country_id = $2)`,
    }),
    values: ["refund", "8"],
  },
  {
    name: "count of all",
    graphql: "{ customer_aggregate { aggregate { count } } }",
    hand: graphql({
      customer_aggregate: "(select json_build_object('aggregate', json_build_object('count', count(*))) from customer)",
    }),
  },
  {
    name: "largest key",
    graphql: "{ purchase_aggregate { aggregate { max { id } } } }",
    hand: graphql({
      purchase_aggregate:
        "(select json_build_object('aggregate', json_build_object('max', json_build_object('id', max(id)))) from purchase)",
    }),
  },
  {
    name: "aggregate with rows",
    graphql:
      "{ customer_aggregate(where: {tenant_id: {_eq: 7}}, order_by: [{score: desc}, {id: asc}], limit: 50) { aggregate { count } nodes { id score } } }",
    hand: graphql({
      customer_aggregate: `(select json_build_object('aggregate', json_build_object('count', count(*)), 'nodes', coalesce(json_agg(c), '[]'))
        from (select id, score from customer where tenant_id = $1 order by score desc, id limit $2) c)`,
    }),
    values: ["7", "50"],
  },
  {
    name: "aggregate with rows, order without an index",
    graphql:
      "{ purchase_aggregate(order_by: [{total: desc}, {id: asc}], limit: 50) { aggregate { count } nodes { id total customer { name } } } }",
    hand: graphql({
      purchase_aggregate: `(select json_build_object('aggregate', json_build_object('count', count(*)), 'nodes', coalesce(json_agg(json_build_object('id', id,
        'total', total, 'customer', (select json_build_object('name', c.name) from customer c where c.id = customer_id))), '[]'))
        from (select id, total, customer_id from purchase order by total desc, id limit $1) p)`,
    }),
    values: ["50"],
  },
  {
    name: "groups",
    path: "/purchase?select=status,total.sum(),count()&order=status",
    hand: rest("select status, sum(total), count(*) from purchase group by status order by status"),
  },
  {
    name: "groups, GraphQL",
    graphql:
      "{ purchase_group_by(by: [status], order_by: {status: asc}) { status aggregate { count sum { total } } } }",
    hand: graphql({
      purchase_group_by: `(select json_agg(json_build_object('status', status, 'aggregate', json_build_object('count', n, 'sum', json_build_object('total', s))))
        from (select status, count(*) as n, sum(total) as s from purchase group by status order by status) g)`,
    }),
  },
  {
    name: "groups by a related column",
    path: "/purchase?select=total.sum(),...customer(country_id)&status=eq.refund",
    hand: rest(
      "select sum(p.total), c.country_id from purchase p left join customer c on c.id = p.customer_id where p.status = $1 group by 2",
    ),
    values: ["refund"],
  },
  // --- operators
  {
    name: "list of 100",
    path: `/customer?select=id,name&id=in.(${IN_LIST})&order=id`,
    hand: rest("select id, name from customer where id = any($1) order by id"),
    values: [`{${IN_LIST}}`],
  },
  {
    name: "list of 100, GraphQL",
    graphql: "query ($l: [Int!]!) { customer(where: {id: {_in: $l}}, order_by: {id: asc}) { id name } }",
    variables: { l: IN_LIST },
    hand: graphql({ customer: array("select id, name from customer where id = any($1) order by id") }),
    values: [`{${IN_LIST}}`],
  },
  {
    name: "prefix",
    path: "/customer?select=id,name&name=like.Customer c4ca*&order=id",
    hand: rest("select id, name from customer where name like $1 order by id"),
    values: ["Customer c4ca%"],
  },
  {
    name: "prefix, GraphQL",
    graphql: '{ customer(where: {name: {_like: "Customer c4ca%"}}, order_by: {id: asc}) { id name } }',
    hand: graphql({ customer: array("select id, name from customer where name like $1 order by id") }),
    values: ["Customer c4ca%"],
  },
  {
    name: "full-text search",
    path: "/customer?select=id&words=fts(simple).word7%26word4007&order=id",
    hand: rest("select id from customer where words @@ to_tsquery('simple', $1) order by id"),
    values: ["word7&word4007"],
  },
  {
    name: "full-text search, index on an expression",
    path: "/customer?select=id&bio=wfts(simple).word7 word4007&order=id",
    hand: rest(
      "select id from customer where to_tsvector('simple', bio) @@ websearch_to_tsquery('simple', $1) order by id",
    ),
    values: ["word7 word4007"],
  },
  {
    name: "jsonb containment",
    path: '/customer?select=id&profile=cs.{"city":"City 77","plan":"basic"}&order=id&limit=50',
    hand: rest("select id from customer where profile @> $1 order by id limit $2"),
    values: ['{"city":"City 77","plan":"basic"}', "50"],
  },
  {
    name: "jsonb containment, GraphQL",
    graphql: '{ customer(where: {profile: {_contains: {city: "City 77"}}}, order_by: {id: asc}, limit: 50) { id } }',
    hand: graphql({ customer: array("select id from customer where profile @> $1 order by id limit $2") }),
    values: ['{"city":"City 77"}', "50"],
  },
  {
    name: "path in jsonb, index on an expression",
    path: "/customer?select=id,city:profile->>city&profile->>city=eq.City 77&order=id",
    hand: rest("select id, profile->>'city' as city from customer where profile->>'city' = $1 order by id"),
    values: ["City 77"],
  },
  {
    name: "order by a path in jsonb",
    path: "/customer?select=id&order=profile->>city,id&limit=20",
    hand: rest("select id from customer order by profile->>'city', id limit $1"),
    values: ["20"],
  },
  {
    name: "array containment",
    path: "/customer?select=id&tags=cs.{t7,u7}&order=id&limit=50",
    hand: rest("select id from customer where tags @> $1 order by id limit $2"),
    values: ["{t7,u7}", "50"],
  },
  {
    name: "array containment, GraphQL",
    graphql: '{ customer(where: {tags: {_contains: ["t7", "u7"]}}, order_by: {id: asc}, limit: 50) { id } }',
    hand: graphql({ customer: array("select id from customer where tags @> $1 order by id limit $2") }),
    values: ["{t7,u7}", "50"],
  },
  {
    name: "array overlap",
    path: "/customer?select=id&tags=ov.{t7,u299}&order=id&limit=50",
    hand: rest("select id from customer where tags && $1 order by id limit $2"),
    values: ["{t7,u299}", "50"],
  },
  {
    name: "range overlap",
    path: "/customer?select=id&active=ov.[2024-01-01,2024-01-02)&order=id",
    hand: rest("select id from customer where active && $1 order by id"),
    values: ["[2024-01-01,2024-01-02)"],
  },
  // --- functions
  {
    name: "computed field",
    path: "/customer?select=id,label&tenant_id=eq.7&order=id&limit=200",
    hand: rest(
      "select id, name || ' <' || email || '>' as label from customer where tenant_id = $1 order by id limit $2",
    ),
    values: ["7", "200"],
  },
  {
    name: "filter by a computed field, index on its expression",
    path: "/customer?select=id&label=eq.Customer c4ca4238a0b923820dcc509a6f75849b <c1@example.org>",
    hand: rest("select id from customer where name || ' <' || email || '>' = $1"),
    values: ["Customer c4ca4238a0b923820dcc509a6f75849b <c1@example.org>"],
  },
  {
    name: "order by a computed field",
    path: "/customer?select=id&tenant_id=eq.7&order=label,id&limit=20",
    hand: rest("select id from customer where tenant_id = $1 order by name || ' <' || email || '>', id limit $2"),
    values: ["7", "20"],
  },
  {
    name: "function call with filter, order, limit",
    path: "/rpc/purchases_of?customer=4711&select=id,total&status=eq.paid&order=placed_at.desc&limit=5",
    hand: rest(
      "select id, total from purchase where customer_id = $1 and status = $2 order by placed_at desc limit $3",
    ),
    values: ["4711", "paid", "5"],
  },
  {
    name: "function call, POST",
    path: "/rpc/purchases_of?select=id,total&status=eq.paid&order=placed_at.desc&limit=5",
    method: "POST",
    body: { customer: 4711 },
    hand: rest(
      "select id, total from purchase where customer_id = $1 and status = $2 order by placed_at desc limit $3",
    ),
    values: ["4711", "paid", "5"],
  },
  {
    name: "function call, GraphQL",
    graphql:
      '{ purchases_of(args: {customer: 4711}, where: {status: {_eq: "paid"}}, order_by: {placed_at: desc}, limit: 5) { id total } }',
    hand: graphql({
      purchases_of: array(
        "select id, total from purchase where customer_id = $1 and status = $2 order by placed_at desc limit $3",
      ),
    }),
    values: ["4711", "paid", "5"],
  },
  // --- writes
  {
    name: "insert of one row",
    path: "/purchase?select=id",
    method: "POST",
    prefer: "return=representation",
    body: NEW_ROWS[0],
    hand: `with w as (insert into purchase (${PURCHASE_COLUMNS}) values ($1, $2, $3, $4, $5, $6) returning id) select coalesce(json_agg(w), '[]')::text as body from w`,
    values: Object.values(NEW_ROWS[0] ?? {}).map(String),
  },
  {
    name: "insert of 1,000 rows",
    path: "/purchase?select=id",
    method: "POST",
    prefer: "return=representation",
    body: NEW_ROWS,
    hand: `with w as (insert into purchase (${PURCHASE_COLUMNS}) select p.* from json_to_recordset($1) as ${PURCHASE_RECORD} returning id)
      select coalesce(json_agg(w), '[]')::text as body from w`,
    values: [NEW_ROWS_TEXT],
  },
  {
    name: "insert of 1,000 rows, GraphQL",
    graphql:
      "mutation ($rows: [purchase_insert_input!]!) { insert_purchase(objects: $rows) { affected_rows returning { id } } }",
    variables: { rows: NEW_ROWS },
    hand: `with w as (insert into purchase (${PURCHASE_COLUMNS}) select p.* from json_to_recordset($1) as ${PURCHASE_RECORD} returning id)
      select json_build_object('insert_purchase', json_build_object('affected_rows', count(*), 'returning', coalesce(json_agg(w), '[]')))::text as body from w`,
    values: [NEW_ROWS_TEXT],
  },
  {
    name: "nested insert, GraphQL",
    graphql: `mutation { insert_purchase_one(object: {id: 2000001, customer_id: 1, tenant_id: 1, status: "open", total: 1, placed_at: "2024-01-01",
      items: {data: [{product_id: 1, qty: 1}, {product_id: 2, qty: 2}]}}) { id items(order_by: {product_id: asc}) { qty } } }`,
    hand: `with p as (insert into purchase (${PURCHASE_COLUMNS}) values ($1, 1, 1, 'open', 1, '2024-01-01') returning id),
      i as (insert into item (purchase_id, product_id, qty) select p.id, v.* from p, (values (1, 1), (2, 2)) v(product_id, qty) returning *)
      select json_build_object('insert_purchase_one', (select json_build_object('id', p.id, 'items', (select json_agg(json_build_object('qty', i.qty) order by i.product_id)
        from i where i.purchase_id = p.id)) from p))::text as body`,
    values: ["2000001"],
  },
  {
    name: "upsert of 1,000 rows",
    path: "/purchase?select=id&on_conflict=id",
    method: "POST",
    prefer: "return=representation,resolution=merge-duplicates",
    body: MIXED_ROWS,
    hand: `with w as (insert into purchase (${PURCHASE_COLUMNS}) select p.* from json_to_recordset($1) as ${PURCHASE_RECORD}
      on conflict (id) do update set customer_id = excluded.customer_id, tenant_id = excluded.tenant_id, status = excluded.status,
      total = excluded.total, placed_at = excluded.placed_at returning id, xmax = 0 as is_new)
      select coalesce(json_agg(json_build_object('id', id)), '[]')::text as body, count(*) filter (where is_new) as inserted from w`,
    values: [JSON.stringify(MIXED_ROWS)],
  },
  {
    name: "upsert of 1,000 rows, GraphQL",
    graphql: `mutation ($rows: [purchase_insert_input!]!) { insert_purchase(objects: $rows, on_conflict: {constraint: purchase_pkey,
      update_columns: [customer_id, tenant_id, status, total, placed_at]}) { affected_rows } }`,
    variables: { rows: MIXED_ROWS },
    hand: `with w as (insert into purchase (${PURCHASE_COLUMNS}) select p.* from json_to_recordset($1) as ${PURCHASE_RECORD}
      on conflict (id) do update set customer_id = excluded.customer_id, tenant_id = excluded.tenant_id, status = excluded.status,
      total = excluded.total, placed_at = excluded.placed_at returning 1)
      select json_build_object('insert_purchase', json_build_object('affected_rows', count(*)))::text as body from w`,
    values: [JSON.stringify(MIXED_ROWS)],
  },
  {
    name: "update by filter",
    path: "/customer?select=id&tenant_id=eq.7&score=lt.500",
    method: "PATCH",
    prefer: "return=representation",
    body: { status: "checked" },
    hand: `with w as (update customer set status = $1 where tenant_id = $2 and score < $3 returning id) select coalesce(json_agg(w), '[]')::text as body from w`,
    values: ["checked", "7", "500"],
  },
  {
    name: "update by filter, GraphQL",
    graphql:
      'mutation { update_customer(where: {tenant_id: {_eq: 7}, score: {_lt: 500}}, _set: {status: "checked"}, _inc: {score: 1}) { affected_rows } }',
    hand: `with w as (update customer set status = $1, score = score + 1 where tenant_id = $2 and score < $3 returning 1)
      select json_build_object('update_customer', json_build_object('affected_rows', count(*)))::text as body from w`,
    values: ["checked", "7", "500"],
  },
  {
    name: "update by a related column, GraphQL",
    graphql:
      'mutation { update_purchase(where: {customer: {email: {_eq: "c4711@example.org"}}}, _set: {status: "checked"}) { affected_rows } }',
    hand: `with w as (update purchase set status = $1 from customer c where c.id = purchase.customer_id and c.email = $2 returning 1)
      select json_build_object('update_purchase', json_build_object('affected_rows', count(*)))::text as body from w`,
    values: ["checked", "c4711@example.org"],
  },
  {
    name: "delete by filter",
    path: "/item?select=purchase_id&product_id=lt.50",
    method: "DELETE",
    prefer: "return=representation",
    hand: `with w as (delete from item where product_id < $1 returning purchase_id) select coalesce(json_agg(w), '[]')::text as body from w`,
    values: ["50"],
  },
  {
    name: "delete by filter, GraphQL",
    graphql: "mutation { delete_item(where: {product_id: {_lt: 50}}) { affected_rows } }",
    hand: `with w as (delete from item where product_id < $1 returning 1)
      select json_build_object('delete_item', json_build_object('affected_rows', count(*)))::text as body from w`,
    values: ["50"],
  },
];
