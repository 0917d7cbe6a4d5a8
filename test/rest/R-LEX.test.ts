import { expect, test } from "vitest";
import { cases } from "../support/cases.ts";
import { startApi } from "../support/api.ts";

const api = await startApi();

const parseError = (message: string, details: string) => ({ code: "PGRST100", details, hint: null, message });

const NAME = `field name (* or [a..z0..9_$])`;
const OP = `operator (eq, gt, ...)`;
const IS_VALUES = `isVal: (null, not_null, true, false, unknown)`;
const DIR = `"asc", "desc", "nullsfirst" or "nullslast"`;
const NULLS = `"nullsfirst" or "nullslast"`;
const TERM = `letter, digit, "-", "->>", "->", delimiter (.), "," or end of input`;
const COND = `letter, digit, "-", "->>", "->" or delimiter (.)`;
const TREE = `field name (* or [a..z0..9_$]), negation operator (not) or logic operator (and, or)`;
const ITEM = `"...", field name (* or [a..z0..9_$]), "*" or "count()"`;
const ITEM1 = `"...", field name (* or [a..z0..9_$]), "*", "count()" or ")"`;
const FIELD = `letter, digit, "-", "->>", "->", "::", ".", ")", "," or end of input`;
const KEY = `"-", digit or any non reserved character different from: .,>()`;
const AGG = `"sum", "avg", "count", "max" or "min"`;

/** The part of the request, its name, the column, the unexpected text, and the expected tokens. */
const TEXTS: readonly (readonly [part: string, what: string, column: number, unexpected: string, expecting: string])[] =
  [
    [`tonnage=5`, "filter", 1, `"5"`, `"not" or ${OP}`],
    [`tonnage=`, "filter", 1, `end of input`, `"not" or ${OP}`],
    [`tonnage=nope.5`, "filter", 1, `"p"`, `"not" or ${OP}`],
    [`tonnage=n`, "filter", 1, `end of input`, `"not" or ${OP}`],
    [`tonnage=g`, "filter", 1, `"g"`, `"not" or ${OP}`],
    [`tonnage=EQ.5`, "filter", 1, `"E"`, `"not" or ${OP}`],
    [`tonnage=not`, "filter", 4, `end of input`, `delimiter (.)`],
    [`tonnage=not.5`, "filter", 5, `"5"`, OP],
    [`tonnage=not.i`, "filter", 5, `end of input`, OP],
    [`tonnage=not.not.eq.5`, "filter", 5, `"n"`, OP],
    [`tonnage=eq`, "filter", 3, `end of input`, OP],
    [`tonnage=gtx.5`, "filter", 3, `"x"`, OP],
    [`tonnage=eq().5`, "filter", 4, `")"`, OP],
    [`tonnage=eq(any)5`, "filter", 8, `"5"`, OP],
    [`tonnage=neq(any).5`, "filter", 4, `"("`, OP],
    [`tonnage=isnt.null`, "filter", 3, `"n"`, OP],
    [`tonnage=is.`, "filter", 4, `end of input`, IS_VALUES],
    [`tonnage=is.nope`, "filter", 6, `"p"`, IS_VALUES],
    [`tonnage=is.nul`, "filter", 7, `end of input`, IS_VALUES],
    [`tonnage=in.1`, "filter", 4, `"1"`, `"("`],
    [`tonnage=in.(1`, "filter", 6, `end of input`, `"," or ")"`],
    [`tonnage=in.(`, "filter", 5, `end of input`, `"\\"", "," or ")"`],
    [`tonnage=in.(1,`, "filter", 7, `end of input`, `"\\"", "," or ")"`],
    [`name=fts().x`, "filter", 5, `")"`, OP],
    [`name=fts(english.x`, "filter", 12, `"."`, OP],
    [`name=fts(eng-lish).x`, "filter", 8, `"-"`, OP],
    [`name..x=eq.1`, "tree path", 6, `"."`, NAME],
    [`name.=eq.1`, "tree path", 6, `end of input`, NAME],
    [`"name=eq.1`, "tree path", 6, `end of input`, `"\\\\" or "\\""`],
    [`specs->=eq.1`, "tree path", 8, `end of input`, KEY],
    [`a..limit=1`, "tree path", 3, `"."`, NAME],
    [`order=`, "order", 1, `end of input`, NAME],
    [`order=name,`, "order", 6, `end of input`, NAME],
    [`order=name.`, "order", 6, `end of input`, DIR],
    [`order=name.up`, "order", 6, `"u"`, DIR],
    [`order=name.a`, "order", 6, `end of input`, DIR],
    [`order=name.nulls`, "order", 6, `"n"`, DIR],
    [`order=name.asc.nl`, "order", 10, `"l"`, NULLS],
    [`order=name.asc.desc`, "order", 10, `"d"`, NULLS],
    [`order=name.ascx`, "order", 9, `'x'`, `delimiter (.), "," or end of input`],
    [`order=name.asc ,id`, "order", 9, `' '`, `delimiter (.), "," or end of input`],
    [`order=name.asc.nullslastly`, "order", 19, `'l'`, `"," or end of input`],
    [`order=name.nullsfirst.asc`, "order", 16, `'.'`, `"," or end of input`],
    [`order=name::text`, "order", 5, `':'`, TERM],
    [`order=ports(name).up`, "order", 6, `'('`, TERM],
    [`order=ports(name)::x`, "order", 6, `'('`, TERM],
    [`order=ports(name).asc.`, "order", 6, `'('`, TERM],
    [`order=name-`, "order", 6, `end of input`, `">", letter or digit`],
    [`order=first-mate::x`, "order", 11, `':'`, `"-", "->>", "->", delimiter (.), "," or end of input`],
    [`order=specs->k(`, "order", 9, `'('`, `"->>", "->", delimiter (.), "," or end of input`],
    [`or=`, "logic tree", 3, `end of input`, `"("`],
    [`or=()`, "logic tree", 4, `")"`, TREE],
    [`or=(id.eq.1`, "logic tree", 11, `end of input`, `"," or ")"`],
    [`or=(id.eq.1,)`, "logic tree", 12, `")"`, TREE],
    [`or=(id)`, "logic tree", 6, `")"`, COND],
    [`or=(id=eq.1)`, "logic tree", 6, `"="`, COND],
    [`or=(id.)`, "logic tree", 7, `")"`, `"not" or ${OP}`],
    [`or=(id.eq)`, "logic tree", 9, `")"`, OP],
    [`or=(id.not.5)`, "logic tree", 11, `"5"`, OP],
    [`or=(id.in.1)`, "logic tree", 10, `"1"`, `"("`],
    [`or=(id.is.zz)`, "logic tree", 10, `"z"`, IS_VALUES],
    [`or=(id.is.nullx)`, "logic tree", 14, `"x"`, `"," or ")"`],
    [`or=(id.is.null x)`, "logic tree", 15, `"x"`, `","`],
    [`or=(and(id.eq.1) x)`, "logic tree", 17, `"x"`, `"," or ")"`],
    [`or=(id.in.(1) x)`, "logic tree", 14, `"x"`, `"," or ")"`],
    [`or=(or)`, "logic tree", 6, `")"`, `"("`],
    [`or=(specs->k)`, "logic tree", 12, `")"`, `"->>", "->" or delimiter (.)`],
    [`or=(first-mate)`, "logic tree", 14, `")"`, `"-", "->>", "->" or delimiter (.)`],
    [`or=(not )`, "logic tree", 8, `")"`, COND],
    [`or=(not.an.eq.1)`, "logic tree", 8, `"."`, `logic operator (and, or)`],
    [`or=(or_else)`, "logic tree", 6, `"_"`, `"("`],
    [`or=(and.zz.1)`, "logic tree", 7, `"."`, `"("`],
    [`or=(not.id.eq.1)`, "logic tree", 8, `"i"`, `logic operator (and, or)`],
    [
      `or=(id.eq.1,not)`,
      "logic tree",
      15,
      `")"`,
      `letter, digit, "-", "->>", "->", delimiter (.) or negation operator (not)`,
    ],
    [`not.or=()`, "logic tree", 8, `")"`, TREE],
    [`not.or=id.eq.1`, "logic tree", 7, `"i"`, `"("`],
    [`voyages.or=()`, "logic tree", 4, `")"`, TREE],
    [`.or=(id.eq.1)`, "logic path", 1, `"."`, NAME],
    [`columns=`, "columns", 1, `end of input`, NAME],
    [`columns=*`, "columns", 1, `"*"`, NAME],
    [`columns=id,`, "columns", 4, `end of input`, NAME],
    [`columns="id`, "columns", 4, `end of input`, `"\\\\" or "\\""`],
    [`columns=id-`, "columns", 4, `end of input`, `">", letter or digit`],
    [`on_conflict=`, "on_conflict", 1, `end of input`, NAME],
    [`select=id,`, "select", 4, `end of input`, ITEM],
    [`select=id,,name`, "select", 4, `","`, ITEM],
    [`select=id,*x`, "select", 5, `'x'`, `")", "," or end of input`],
    [`select=id,...ports`, "select", 12, `end of input`, `letter, digit, "-", "!" or "("`],
    [`select=id,...ports!inner`, "select", 18, `end of input`, `"!" or "("`],
    [`select=id,...ports!fkey`, "select", 17, `end of input`, `letter, digit, "-", "!" or "("`],
    [`select=id,...ports!inner!fkey`, "select", 23, `end of input`, `letter, digit, "-" or "("`],
    [`select=id,...ports!inner!left!x(id)`, "select", 23, `"!"`, `"("`],
    [`select=ports(...vessels)`, "select", 17, `")"`, `letter, digit, "-", "!" or "("`],
    [`select=ports(`, "select", 7, `end of input`, ITEM1],
    [`select=ports(id`, "select", 9, `end of input`, FIELD],
    [`select=ports(id,name`, "select", 14, `end of input`, `"," or ")"`],
    [`select=ports(id,)`, "select", 10, `")"`, ITEM],
    [`select=ports(name[])`, "select", 11, `'['`, FIELD],
    [`select=ports!(id)`, "select", 6, `'!'`, FIELD],
    [`select=ports!leftover(id)`, "select", 6, `'!'`, FIELD],
    [`select=ports(id) x,id`, "select", 11, `"x"`, `","`],
    [`select="id"x`, "select", 5, `'x'`, `"->>", "->", "::", ".", ")", "," or end of input`],
    [`select=id::`, "select", 5, `end of input`, `letter or digit`],
    [`select=id::int[]`, "select", 8, `'['`, `letter, digit, ".", "::", ")", "," or end of input`],
    [`select=id::int.sum()::text.sum()`, "select", 20, `'.'`, `letter, digit, ")", "," or end of input`],
    [`select=a:`, "select", 3, `end of input`, `":" or ${NAME}`],
    [`select=a:*`, "select", 3, `"*"`, `":" or ${NAME}`],
    [`select=a:b:c`, "select", 4, `"c"`, `"::"`],
    [`select=id.`, "select", 4, `end of input`, AGG],
    [`select=id.foo`, "select", 4, `"f"`, AGG],
    [`select=id.s()`, "select", 4, `"("`, `"sum"`],
    [`select=id.sum`, "select", 7, `end of input`, `"()"`],
    [`select=id.sum(x)`, "select", 7, `"x"`, `"()"`],
    [`select=id.sum()x`, "select", 9, `'x'`, `"::", ")", "," or end of input`],
    [`select=id.sum():x`, "select", 9, `"x"`, `"::"`],
    [`select=id.sum()::`, "select", 11, `end of input`, `letter or digit`],
    [`select=id.sum()->x`, "select", 9, `'-'`, `"::", ")", "," or end of input`],
    [`select=id.sum()::int[]`, "select", 14, `'['`, `letter, digit, ")", "," or end of input`],
    [`select=ports(id.sum()`, "select", 15, `end of input`, `"::", ")", "," or end of input`],
    [`select= @`, "select", 2, `"@"`, `"*", field name (* or [a..z0..9_$]) or "count()"`],
    [`select= ...ports`, "select", 2, `"."`, `"*", field name (* or [a..z0..9_$]) or "count()"`],
    [`select=ports( ,id)`, "select", 8, `","`, `"*", field name (* or [a..z0..9_$]) or "count()"`],
    [`select=ports(..id)`, "select", 7, `"i"`, ITEM1],
    [`select=id,..ports`, "select", 4, `"."`, ITEM],
    [`select=first-mate[0]`, "select", 11, `'['`, `"-", "->>", "->", "::", ".", ")", "," or end of input`],
    [`select=specs->k(`, "select", 9, `'('`, `"->>", "->", "::", ".", ")", "," or end of input`],
    [`select=specs->0,a->1x:y`, "select", 15, `"y"`, `"::"`],
    [`select=count(id)`, "select", 6, `'('`, FIELD],
    [`select=count()x`, "select", 6, `'('`, FIELD],
    [`select=count()::`, "select", 6, `'('`, FIELD],
    [`select=a:count()->b`, "select", 8, `'('`, FIELD],
    [`select=specs->`, "select", 8, `end of input`, KEY],
    [`select=specs->>--2`, "select", 10, `"-"`, `digit`],
    [`select=specs->-`, "select", 9, `end of input`, `digit`],
    [`select=specs->(k`, "select", 8, `"("`, KEY],
    [`select=specs->>-78xy`, "select", 12, `'x'`, `digit, "->", "::", ".", "," or end of input`],
    [`select=specs->a.b`, "select", 10, `"b"`, AGG],
    [`select=specs->a:b`, "select", 9, `"b"`, `"::"`],
    [`select=specs->a-`, "select", 10, `end of input`, `">"`],
    [`select=specs->"a`, "select", 10, `end of input`, `"\\\\" or "\\""`],
  ];

const WORDS: Readonly<Record<string, string>> = {
  select: "select parameter",
  columns: "columns parameter",
  on_conflict: "on_conflict parameter",
};

test.each(TEXTS)(
  "R-LEX-10 R-LEX-11 R-LEX-12 the text of a parse error has the position and the expected tokens: %s",
  async (part, what, column, unexpectedToken, expectedTokens) => {
    const equalsIndex = part.indexOf("=");
    const [name, value] = [part.slice(0, equalsIndex), part.slice(equalsIndex + 1)];
    const answer = await api.get(`/vessels?${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    const raw = what === "tree path" || what === "logic path" ? name : value;
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual(
      parseError(
        `"failed to parse ${WORDS[what] ?? what} (${raw})" (line 1, column ${column})`,
        `unexpected ${unexpectedToken} expecting ${expectedTokens}`,
      ),
    );
  },
);

cases(api, [
  {
    title: "R-LEX-10 a parse error shows the decoded text, and characters above 127 as code points",
    request: "GET /vessels?tonnage=%C3%A9q.5",
    status: 400,
    answer: parseError(
      '"failed to parse filter (éq.5)" (line 1, column 1)',
      `unexpected "\\233" expecting "not" or ${OP}`,
    ),
  },
  {
    title: "R-LEX-10 R-LEX-10b in a parse error a tab moves to the next column of the form 8k+1",
    request: "GET /vessels?select=id,%09%09%5D",
    status: 400,
    answer: parseError(
      '"failed to parse select parameter (id,\t\t])" (line 1, column 17)',
      `unexpected "]" expecting ${ITEM}`,
    ),
  },
  {
    title: "R-LEX-10 R-LEX-10b in a parse error a line feed starts line 2",
    request: "GET /vessels?or=(name.eq.%22a%0Ab%22x,id.eq.1)&id=eq.1&select=%22a%0Ab%22x",
    status: 400,
    answer: parseError(
      '"failed to parse select parameter ("a\nb"x)" (line 2, column 3)',
      `unexpected 'x' expecting "->>", "->", "::", ".", ")", "," or end of input`,
    ),
  },
  {
    title: "R-LEX-10 R-LEX-10b in a parse error a character outside the first plane counts once",
    request: "GET /vessels?order=%22%F0%9F%9A%A2%22x",
    status: 400,
    answer: parseError(
      '"failed to parse order ("🚢"x)" (line 1, column 4)',
      `unexpected 'x' expecting "->>", "->", delimiter (.), "," or end of input`,
    ),
  },
  {
    title: "R-LEX-11 R-LEX-11a a parse error shows a control character by its name",
    request: "GET /vessels?tonnage=%01",
    status: 400,
    answer: parseError(
      '"failed to parse filter (\u0001)" (line 1, column 1)',
      `unexpected "\\SOH" expecting "not" or ${OP}`,
    ),
  },
  {
    title: "R-LEX-11 R-LEX-11a a parse error escapes a double quote",
    request: "GET /vessels?tonnage=%22",
    status: 400,
    answer: parseError('"failed to parse filter (")" (line 1, column 1)', `unexpected "\\"" expecting "not" or ${OP}`),
  },
  {
    title: "R-LEX-11 R-LEX-11a a parse error shows DEL by its name",
    request: "GET /vessels?order=name.asc%7F",
    status: 400,
    answer: parseError(
      '"failed to parse order (name.asc\u007f)" (line 1, column 9)',
      `unexpected '\\DEL' expecting delimiter (.), "," or end of input`,
    ),
  },
  {
    title: "R-LEX-12 R-LEX-12b a complete operator word is reported where its continuation fails",
    request: "GET /vessels?tonnage=isdistinctx.5",
    status: 400,
    answer: parseError(
      '"failed to parse filter (isdistinctx.5)" (line 1, column 11)',
      `unexpected "x" expecting ${OP}`,
    ),
  },
]);

const plan = "/Deck%20Plans";

cases(api, [
  {
    title: "R-LEX-1 names may have letters of any alphabet",
    request: `GET ${plan}?select=ünï`,
    answer: [{ ünï: "accent" }],
  },
  {
    title: "R-LEX-1 names may contain hyphens",
    request: `GET ${plan}?select=first-mate&first-mate=eq.mate`,
    answer: [{ "first-mate": "mate" }],
  },
  {
    title: "R-LEX-1 blanks inside a name are kept, and blanks around it are removed",
    request: `GET ${plan}?select= Plan No ,first-mate`,
    answer: [{ "Plan No": 1, "first-mate": "mate" }],
  },
  {
    title: "R-LEX-1 names with reserved characters need quotes",
    request: `GET ${plan}?select="a.b","a:b","(x)"`,
    answer: [{ "a.b": "dotted", "a:b": "colon", "(x)": "paren" }],
  },
  {
    title: "R-LEX-1 names may contain a dollar sign",
    request: "GET /vessels?select=a$b$:name&id=eq.1",
    answer: [{ a$b$: "Ariel" }],
  },
  {
    title: "R-LEX-1 names may consist of digits",
    request: "GET /vessels?select=123:name&id=eq.1",
    answer: [{ 123: "Ariel" }],
  },
  {
    title: "R-LEX-2 a quoted name may contain escaped quotes",
    request: `GET ${plan}?select="the \\"best\\" one"&"the \\"best\\" one"=eq.quoted`,
    answer: [{ 'the "best" one': "quoted" }],
  },
  {
    title: "R-LEX-2 a quoted name may contain an escaped backslash",
    request: `GET ${plan}?select="back\\\\slash"`,
    answer: [{ "back\\slash": "slash" }],
  },
  {
    title: "R-LEX-2 blanks inside quotes belong to the name",
    request: `GET ${plan}?select=" first-mate"`,
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("42703"),
  },
  {
    title: "R-LEX-3 a list element is quoted only as a whole",
    request: 'GET /sailors?select=name&name=in.(Jo "Red" Lee)',
    answer: [{ name: 'Jo "Red" Lee' }],
  },
  {
    title: "R-LEX-3 quoted list elements may hold commas and parentheses",
    request: 'GET /sailors?select=name&name=in.("a,b)","Jo \\"Red\\" Lee",Bo)&order=id',
    answer: [{ name: "Bo" }, { name: 'Jo "Red" Lee' }],
  },
  {
    title: "R-LEX-3 a list element with text after a closing quote is literal",
    request: 'GET /sailors?select=name&name=in.("Bo"x,"Ada")',
    answer: [{ name: "Ada" }],
  },
  {
    title: "R-LEX-4 a value in a logic tree may be quoted",
    request: 'GET /sailors?select=name&or=(name.eq."Jo \\"Red\\" Lee",id.eq.1)&order=id',
    answer: [{ name: "Ada" }, { name: 'Jo "Red" Lee' }],
  },
  {
    title: "R-LEX-4 braces in a logic tree include their commas",
    request: "GET /vessels?select=name&or=(flags.eq.{PA,NO},id.eq.3)&order=id",
    answer: [{ name: "Ariel" }, { name: "Gjoa" }],
  },
  {
    title: "R-LEX-4 braces with inner braces in a logic tree end at the comma",
    request: "GET /vessels?select=name&or=(name.eq.{a{b,id.eq.3)",
    answer: [{ name: "Gjoa" }],
  },
  { title: "R-LEX-5 a plain value keeps its quotes", request: 'GET /vessels?name=eq."Ariel"', answer: [] },
  {
    title: "R-LEX-5 a plain value may contain any characters",
    request: 'GET /sailors?select=name&name=eq.Jo "Red" Lee',
    answer: [{ name: 'Jo "Red" Lee' }],
  },
  {
    title: "R-LEX-6 JSON paths contain indexes and keys",
    request: "GET /vessels?select=tag:specs->tags->>1,maker:specs->engine->>maker&id=eq.1",
    answer: [{ tag: "b", maker: "Burmeister" }],
  },
  {
    title: "R-LEX-6 a negative index counts from the end",
    request: "GET /vessels?select=tag:specs->tags->>-1&id=eq.1",
    answer: [{ tag: "b" }],
  },
  {
    title: "R-LEX-6 R-LEX-6a an operand that only begins with digits is a key",
    request: "GET /vessels?select=a:specs->0x,b:specs->12-a&id=eq.1",
    answer: [{ a: null, b: null }],
  },
  {
    title: "R-LEX-6 a key of a JSON path may be quoted",
    request: 'GET /vessels?select=a:specs->"engine"->>"maker"&id=eq.1',
    answer: [{ a: "Burmeister" }],
  },
  {
    title: "R-LEX-6 R-LEX-6a digits before a closing parenthesis are an index",
    request: "GET /ports?select=vessels(tag:specs->tags->0)&id=eq.1&vessels.id=eq.1",
    answer: [{ vessels: [{ tag: "a" }] }],
  },
  {
    title: "R-LEX-7 a type name may have several words",
    request: "GET /vessels?select=tonnage::double precision&id=eq.1",
    answer: [{ tonnage: 853 }],
  },
  {
    title: "R-LEX-7 an array type may be named by its internal name",
    request: "GET /vessels?select=flags::_text&id=eq.1",
    answer: [{ flags: ["PA", "NO"] }],
  },
  {
    title: "R-LEX-8 a filter name may have embeds, a column and a JSON path",
    request: "GET /ports?select=name,vessels(name)&vessels.specs->engine->>maker=eq.Akers&order=id",
    answer: [
      { name: "Oslo", vessels: [{ name: "Fram" }] },
      { name: "Leith", vessels: [] },
    ],
  },
  {
    title: "R-LEX-9 blanks around the commas of select are ignored",
    request: "GET /vessels?select=id ,%09name , tonnage&id=eq.1",
    answer: [{ id: 1, name: "Ariel", tonnage: 853 }],
  },
  {
    title: "R-LEX-9 blanks around the parentheses of in are ignored",
    request: "GET /vessels?select=id&id=in. ( 1,2) &or=(id.in. ( 2,3) ,and( id.in.( 9) ) )",
    answer: [{ id: 2 }],
  },
  {
    title: "R-LEX-9 blanks in logic trees are ignored",
    request: "GET /vessels?select=id&or= ( id.eq.1 , and ( id.gt.1 , id.lt.3 ) ) &order=id",
    answer: [{ id: 1 }, { id: 2 }],
  },
  {
    title: "R-LEX-9 blanks around the terms of an order are ignored",
    request: "GET /vessels?select=id&order=tonnage , id",
    answer: [{ id: 3 }, { id: 2 }, { id: 1 }],
  },
  {
    title: "R-LEX-9 a blank between an embed and a comma is ignored",
    request: "GET /vessels?select=ports(name) ,id&id=eq.1",
    answer: [{ id: 1, ports: { name: "Oslo" } }],
  },
  {
    title: "R-LEX-13 text after the name of a filter is ignored",
    request: "GET /vessels?select=id&name(x)=eq.Ariel&id:x=eq.1",
    answer: [{ id: 1 }],
  },
  {
    title: "R-LEX-13 text after the last name of columns is ignored",
    request: "GET /vessels?select=id&columns=id(&id=eq.1",
    answer: [{ id: 1 }],
  },
  {
    title: "R-LEX-13 text after the list of in or the word of is is ignored",
    request: "GET /vessels?select=id&id=in.(1,2)x&name=is.not_nullx&order=id",
    answer: [{ id: 1 }, { id: 2 }],
  },
  {
    title: "R-LEX-13 text after the outer parenthesis of a logic tree is ignored",
    request: "GET /vessels?select=id&or=(id.eq.1)x",
    answer: [{ id: 1 }],
  },
  {
    title: "R-LEX-13 text directly after a closed embed is ignored",
    request: "GET /vessels?select=ports(name)x,foo&id=eq.1",
    answer: [{ ports: { name: "Oslo" } }],
  },
  {
    title: "R-LEX-13 an unopened parenthesis ends the select",
    request: "GET /vessels?select=id)x&id=eq.1",
    answer: [{ id: 1 }],
  },
  ...[",id", "(id)", ":id", "@", "*x", "*::int", "...ports", "..ports(id)"].map((select) => ({
    title: `R-LEX-13 a select that does not begin with a field is empty: ${select}`,
    request: `GET /ports?select=${select}&id=eq.1`,
    answer: [{ id: 1, name: "Oslo", country: "NO" }],
  })),
  {
    title: "R-LEX-13 a logic tree without parentheses is a parse error",
    request: "GET /vessels?or=id.eq.1",
    status: 400,
    check: (answer) => expect(answer.json()).toMatchObject({ code: "42703", message: expect.stringContaining("orid") }),
  },
]);
