import { startScriptedModel } from "./scripted_model.ts";
const model = startScriptedModel();
const c = model.conversation(200);
console.log(c.url);
await new Promise((r) => setTimeout(r, Number(Deno.args[0] ?? 20000)));
const g = c.log.gaps.slice(20).sort((a, b) => a - b);
console.log("gap median", g[g.length >> 1]);
Deno.exit(0);
