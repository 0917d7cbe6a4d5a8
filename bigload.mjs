import { monitorEventLoopDelay, performance, PerformanceObserver } from "node:perf_hooks";
import { createServer } from "node:http";
import { relApi } from "./dist/core/index.js";
import { fullCompat } from "./dist/presets/index.js";
let T0=0; const silent=()=>{};
const api = relApi(fullCompat({ databaseUrl: "postgres://postgres@127.0.0.1:5541/pool_big", dbSchemas:["big"], anonRole:"postgres", adminSecret:"x", dbSchemaPollInterval: 0, logger:{error:console.error,warn:console.error,info:(m,f)=>console.log(m,f),debug:silent,access:silent} }));
await api.ready;
const http = createServer(api).listen(0, "127.0.0.1"); await new Promise(r=>http.once("listening",r));
const url=`http://127.0.0.1:${http.address().port}`;
const rest=async()=>{const t=performance.now(); const r=await fetch(url+"/api/t5?select=id,name,parent"); await r.text(); return [performance.now()-t, r.status];};
const gql=async(q="{big_t5(limit:1){id name}}")=>{const t=performance.now(); const r=await fetch(url+"/v1/graphql",{method:"POST",headers:{"content-type":"application/json","x-hasura-admin-secret":"x"},body:JSON.stringify({query:q})}); const x=await r.text(); if(!r.ok||x.startsWith('{"errors')) console.log(x.slice(0,300)); return [performance.now()-t, r.status];};
console.log("rest", await rest(), "gql", await gql(), await gql());
for (let round=0; round<3; round++) {
  const h = monitorEventLoopDelay({resolution:5}); h.enable();
  let max=0, n=0, on=true, worst="";
  const load=(async()=>{ while(on){ for (const f of [rest,gql]) { const [ms]=await f(); n++; if(ms>max){max=ms;worst=f===rest?"rest":"gql";} } await new Promise(r=>setTimeout(r,10)); } })();
  let last=performance.now(); const gaps=[]; const t=setInterval(()=>{const now=performance.now(); if(now-last>60) gaps.push(Math.round(last-T0)+"+"+Math.round(now-last)); last=now;},5);
  await new Promise(r=>setTimeout(r,300));
  const t0=performance.now(); T0=t0; await api.reload(); const t1=performance.now();
  await new Promise(r=>setTimeout(r,1500)); on=false; await load; clearInterval(t); h.disable();
  console.log("reload ms", Math.round(t1-t0), "loop max ms", (h.max/1e6).toFixed(0), "request max", max.toFixed(0), worst, "n", n, "gaps>60", gaps.join(","));
}
await api.close(); http.close();
