import { openDispatcher, prepare } from "../../src/cli/_host.ts";
import { compileCall } from "../../src/policy/compile.ts";
import { Confiner } from "../../src/sandbox/confine.ts";
const d = Deno.realPathSync(Deno.makeTempDirSync());
async function t(name:string, n:number, f:()=>unknown) { const a:number[]=[]; for(let i=0;i<n;i++){const b=performance.now(); await f(); a.push(performance.now()-b);} a.sort((x,y)=>x-y); console.log(name.padEnd(40), "min",a[0]!.toFixed(2),"q1",a[a.length>>2]!.toFixed(2), "med",a[a.length>>1]!.toFixed(2)); }
const io:any = { out(){}, err(){}, env:(n:string)=>Deno.env.get(n), cwd:d, color:false };
for (const confine of ["off","require"]) {
const host = await prepare({ path: d }, io, {"tool_permission.bash":"allow","exec.confine":confine}, {quiet:true});
const { dispatcher, sandbox } = await openDispatcher(host);
const tool = host.registry.get("run_command")!;
const args = {command:"echo hello",timeout:30};
const dec = host.policy.resolve(tool,args);
const conf = new Confiner({mode:confine as any,worktree:host.worktree,home:host.paths.home,writable:host.settings.exec.writable,hide:[host.paths.config,host.paths.state]});
const plan = await conf.plan(false);
await t(confine+" resolve",30,()=>host.policy.resolve(tool,args));
await t(confine+" compile",30,()=>compileCall(tool,dec,host.policyInput,false,plan?.program));
await t(confine+" plan",30,()=>conf.plan(false));
const scope=compileCall(tool,dec,host.policyInput,false,plan?.program);
await t(confine+" sandbox.run",40,async()=>{const r=await sandbox.run(tool,args,scope,{config:{},timeout:10000,env:host.childEnv as any,confine:plan??undefined}); if(!r.ok) throw r;});
await t(confine+" dispatcher",40,()=>dispatcher.call("run_command",args,{confirm:()=>Promise.resolve("nobody" as const)}));
await t(confine+" bare",40,()=>new Deno.Command("/bin/sh",{args:["-c","echo hello"],stdin:"null"}).output());
if (plan) {
 const {confineCommand,confineCleanup}=await import("../../src/sandbox/confine.ts");
 const w=confineCommand(["/bin/sh","-c","echo hello"],plan,d); console.log(w.length, confineCleanup(plan)?.length, plan.absent);
 await t("bwrap bare",40,()=>new Deno.Command(w[0]!,{args:w.slice(1),stdin:"null"}).output());
 const c=confineCleanup(plan); if(c) await t("cleanup bare",40,()=>new Deno.Command(c[0]!,{args:c.slice(1),stdin:"null"}).output());
}
sandbox.close();
}
