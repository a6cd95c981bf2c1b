import { measureExec, measureGrowth } from "./_exec.ts";
const d = Deno.realPathSync(Deno.makeTempDirSync());
console.log("off", await measureExec(d, "off", 60));
console.log("allowlist off", await measureExec(d, "off", 60, true));
console.log("require", await measureExec(d, "require", 40));
console.log("growth", await measureGrowth(d, 400));
