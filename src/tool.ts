/**
 * The contract that tools are written against: {@link defineTool}, the context that a handler gets, and the
 * types that the registry, the policy and the sandbox read. A leaf: it imports nothing of ours.
 *
 * Source: the registration metadata of the tools specification, in camelCase.
 *
 * @module
 */

/** What a policy says about a call. */
export type Action = "allow" | "ask" | "deny";

/** What a handler needs at run time. A tool without any runs in the host and gets `context.host`. */
export type Access = "read" | "write" | "run" | "net";

/** Drives the default activity glyph and verb. */
export type Category =
  | "ask"
  | "catalog"
  | "delegate"
  | "exec"
  | "handoff"
  | "mcp"
  | "read"
  | "search"
  | "todo"
  | "write";

/** The `tool_permission` key that gates a tool. Plugins may bring keys of their own; an unknown key is `ask`. */
export type PermissionKey =
  | "ask"
  | "bash"
  | "catalog"
  | "delegate"
  | "edit"
  | "handoff"
  | "list"
  | "mcp"
  | "read"
  | "team"
  | "todo"
  | "vcs"
  | "web"
  | (string & Record<never, never>);

/** Any value that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** JSON Schema of one parameter (the part of the standard that tools use; other keywords pass through). */
export interface ParameterSchema {
  /** One type name, or several. */
  readonly type?: string | readonly string[];
  /** Shown to the model. */
  readonly description?: string;
  /** Allowed values. */
  readonly enum?: readonly unknown[];
  /** Filled in when the caller leaves the parameter out. */
  readonly default?: unknown;
  /** Inclusive lower bound of a number. */
  readonly minimum?: number;
  /** Inclusive upper bound of a number. */
  readonly maximum?: number;
  /** Schema of the elements of an array. */
  readonly items?: ParameterSchema;
  /** Schemas of an object's members. */
  readonly properties?: { readonly [name: string]: ParameterSchema };
  /** Names of an object's required members. */
  readonly required?: readonly string[];
  /** Alternatives. */
  readonly anyOf?: readonly ParameterSchema[];
  /** Any other keyword of JSON Schema. */
  readonly [keyword: string]: unknown;
}

/** JSON Schema of a tool's arguments: always an object. */
export interface ObjectSchema extends ParameterSchema {
  /** Arguments are an object. */
  readonly type: "object";
  /** Schemas of the arguments, by name. */
  readonly properties: { readonly [name: string]: ParameterSchema };
}

/**
 * A Standard Schema that carries JSON Schema (zod 4, arktype, valibot through `@valibot/to-json-schema`).
 * Source: standardschema.dev, `StandardSchemaV1` and `StandardJSONSchemaV1`.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The standard's single property. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/** Result of a Standard Schema's validation: a value, or the issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
    readonly issues: readonly {
      readonly message: string;
      readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
    }[];
  };

/** TypeScript type of one JSON Schema parameter. */
export type InferParameter<S> = S extends { enum: readonly (infer V)[] } ? V
  : S extends { type: "string" } ? string
  : S extends { type: "integer" | "number" } ? number
  : S extends { type: "boolean" } ? boolean
  : S extends { type: "array"; items: infer I } ? InferParameter<I>[]
  : S extends { type: "array" } ? unknown[]
  : S extends { type: "object"; properties: infer P } ? { [K in keyof P]?: InferParameter<P[K]> }
  : S extends { type: "object" } ? Record<string, unknown>
  : unknown;

/** Names of the parameters that a handler always gets: required ones and those with a default. */
export type Present<S extends ObjectSchema> =
  | (S["required"] extends readonly (infer R)[] ? R : never)
  | { [K in keyof S["properties"]]: S["properties"][K] extends { default: unknown } ? K : never }[
    keyof S["properties"]
  ];

/** TypeScript type of a tool's arguments, inferred from its schema: required ones and those with a default are present. */
export type InferArguments<S> = S extends StandardSchema<infer _I, infer O> ? O
  : S extends ObjectSchema ?
      & { [K in keyof S["properties"] & Present<S>]: InferParameter<S["properties"][K]> }
      & { [K in Exclude<keyof S["properties"], Present<S>>]?: InferParameter<S["properties"][K]> }
  : Record<string, unknown>;

/** A path that a call touches, as the caller wrote it (relative ones resolve against the worktree). */
export interface PathUse {
  /** The path. */
  readonly path: string;
  /** What happens to it. `list` lists names below it; `read` reads content; `write` creates or changes it. */
  readonly access: "list" | "read" | "write";
}

/** What a permission resolver may look at: plain data, no I/O. */
export interface ResolverInput {
  /** The effective configuration, nested. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The action of the tool's category, which the resolver refines. */
  readonly base: Action;
  /** The mode in force. */
  readonly mode?: string;
  /** The mode changes nothing (plan): a tool that can both look and change answers `deny` for what changes. */
  readonly readOnly?: boolean;
  /** Actions by permission key as they stand in this mode. */
  readonly permission?: Readonly<Record<string, unknown>>;
  /** Permission keys of the tools that can change something. */
  readonly changing?: readonly string[];
  /** `false`: there is nobody who could be asked on behalf of a sub-agent, so that its `ask` is a `deny`. */
  readonly attended?: boolean;
  /** Roles and teams; throws where they cannot be read. */
  readonly catalog?: () => CatalogView;
}

/** Roles and teams by name, as far as resolvers look at them. */
export interface CatalogView {
  /** What a role restricts, by its name. */
  readonly roles: ReadonlyMap<string, { readonly tool_permission?: Readonly<Record<string, unknown>> }>;
  /** The roles of a team's stages, by its name. */
  readonly teams: ReadonlyMap<string, { readonly stages: readonly { readonly role: string }[] }>;
}

/** What a resolver answers: an action, with a reason if it has one; null defers to the category's action. */
export type ResolverAnswer = Action | { readonly action: Action; readonly reason: string } | null;

/** A tool's result: text, or JSON, or text for the model with details for the person. */
export type ToolOutput = string | Json | ToolResult;

/** Text for the model and details for the person, kept apart. */
export interface ToolResult {
  /** Marks the type; set by {@link toolResult}. */
  readonly kind: "tool_result";
  /** What the model sees. A first line that begins `Error: ` marks a failure. */
  readonly content: string;
  /** What a user interface may show instead or beside it. */
  readonly details?: ToolDetails;
}

/** Details of a result for user interfaces. Never sent to the model. */
export interface ToolDetails {
  /** Unified diff body, without the two file lines. */
  readonly diff?: string;
  /** Files that were written, as absolute paths. */
  readonly wrote?: readonly string[];
  /** Exit code of a command. */
  readonly exitCode?: number | null;
  /** The call failed although the text does not begin with `Error: ` (a command that exited non-zero). */
  readonly failed?: boolean;
  /** Tracked files that are not as they were before a command, relative to the worktree; the host adds it where it looks. */
  readonly changed?: readonly { readonly path: string; readonly kind: "changed" | "removed" | "made" }[];
  /** Anything else, for a tool's own user interface. */
  readonly [name: string]: unknown;
}

/** Makes a result whose details go to the user interface only. */
export function toolResult(content: string, details?: ToolDetails): ToolResult {
  return { kind: "tool_result", content, details };
}

/** What a file is; `other` is a FIFO, socket or device, which no tool opens. */
export type FileKind = "file" | "directory" | "symlink" | "other";

/** One entry of a directory. */
export interface DirectoryEntry {
  /** Its name, without the directory. */
  readonly name: string;
  /** What it is; links are not followed. */
  readonly kind: FileKind;
}

/** What is known of a file without reading it. */
export interface FileStatus {
  /** What it is, links followed. */
  readonly kind: FileKind;
  /** Size in bytes. */
  readonly size: number;
  /** Permission bits (`0o644`); 0 where the system has none. */
  readonly mode: number;
  /** Last modification, milliseconds since 1970. */
  readonly modified: number;
  /** Number of hard links; 1 where the system does not say. */
  readonly links: number;
}

/** How {@link Workspace.writeFile} writes. */
export interface WriteOptions {
  /** Append instead of replace. */
  readonly append?: boolean;
  /** Fail when the file exists. */
  readonly exclusive?: boolean;
  /** The bytes that must still be there, or the write fails: guards a read-modify-write against other writers. */
  readonly expected?: Uint8Array;
}

/** What a write did. */
export interface WriteReport {
  /** Absolute canonical path that was written (a symlink's target). */
  readonly path: string;
  /** The file was not there before. */
  readonly created: boolean;
  /** The file has several hard links and was written in place, which is not atomic. */
  readonly inPlace: boolean;
}

/**
 * Files, seen through the guard of the sandbox: every path is canonicalised, compared with what this call may
 * touch and checked again after it was opened. Synchronous, because a handler runs in a worker of its own.
 * Paths may be relative to {@link Workspace.root} or absolute. All methods throw `ToolError`: kind `not_found`
 * where there is nothing, `permission` where the guard refuses, `execution` for the rest.
 */
export interface Workspace {
  /** Absolute canonical path of the worktree. */
  readonly root: string;
  /** Absolute canonical path (links resolved, as far as the path exists); throws where `access` is not allowed. */
  resolve(path: string, access: "list" | "read" | "write"): string;
  /** Follows links; null where there is nothing. */
  status(path: string): FileStatus | null;
  /** Names and kinds in a directory, in no particular order, links not followed. */
  readDirectory(path: string): DirectoryEntry[];
  /** The bytes of a regular file; `maxBytes` reads no more than that many. */
  readFile(path: string, options?: { readonly maxBytes?: number }): Uint8Array;
  /**
   * The bytes of a regular file in pieces, in order, for files that are too large to hold: `onChunk` gets a view that is
   * valid until it returns; false ends the reading. Where a workspace lacks it, readers take the file's beginning alone.
   */
  readChunks?(path: string, onChunk: (bytes: Uint8Array) => boolean | void): void;
  /** Writes atomically: temporary sibling and rename, links and mode bits kept, parents made. */
  writeFile(path: string, bytes: Uint8Array, options?: WriteOptions): WriteReport;
  /**
   * The rule that keeps a walk from reading this canonical path's content, or null. A walk lists such names but
   * skips their content and says so.
   */
  withheld(canonicalPath: string): string | null;
  /**
   * Fast bulk access for walks: `directory` must come from {@link Workspace.resolve} or from an entry of kind
   * `directory` of an earlier call below it. Links are reported, never followed.
   */
  walkDirectory(directory: string): DirectoryEntry[];
  /**
   * Fast bulk read of a regular file found by {@link Workspace.walkDirectory}: returns the bytes (a view into
   * `buffer` when they fit), or null for a link, a special file or one that vanished.
   *
   * The check that the opened file is the one that was found costs several times the reading. `wanted` saves it for
   * files that are of no interest: it sees the bytes before the check (all of them, and it must not keep or report
   * them) and where it says false the answer is null. What is returned was always checked.
   */
  walkFile(path: string, buffer: Uint8Array, wanted?: (bytes: Uint8Array) => boolean): Uint8Array | null;
}

/** How to start a program. */
export interface ExecOptions {
  /** Working directory: relative to the worktree or absolute; checked like any path. */
  readonly cwd?: string;
  /** Milliseconds until the whole process group is ended. */
  readonly timeout: number;
  /** Additions to the scrubbed environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Most bytes of output kept in memory, head and tail; the middle is counted. */
  readonly maxBytes?: number;
  /** Text for standard input; closed at once without it. */
  readonly stdin?: string;
  /** The output is for the handler alone: decoded, but not cleaned of control characters. */
  readonly raw?: boolean;
}

/** What a program did. */
export interface ExecResult {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  /** Name of the signal that ended it, such as `SIGKILL`. */
  readonly signal: string | null;
  /** Standard output and error in the order in which they were written; cleaned of invalid UTF-8 and escapes. */
  readonly output: string;
  /** It ran into the timeout. */
  readonly timedOut: boolean;
  /** Bytes of output that were counted but not kept. */
  readonly droppedBytes: number;
  /** Lines for the person and the model: what the shell layer has to add (a failed pipe part, a kept child). */
  readonly notes: readonly string[];
}

/** What a handler asks the web for. */
export interface FetchRequest {
  /** Absolute http(s) URL; with `service`, what follows the service's own address. */
  readonly url: string;
  /**
   * A service that the host knows by this name and that the tool declared in `services`: the host knows where it is
   * and adds the user's key, which the handler never sees.
   */
  readonly service?: string;
  /** The `Accept` header. */
  readonly accept?: string;
  /** Sent by POST. Services alone take one. */
  readonly body?: { readonly type: string; readonly text: string };
}

/** What came back. Redirects were followed, each one decided anew. */
export interface FetchResponse {
  /** The URL that answered in the end. */
  readonly url: string;
  /** HTTP status. */
  readonly status: number;
  /** The `Content-Type` header, or empty. */
  readonly type: string;
  /** Decompressed and whole: at most 20 MB. */
  readonly body: Uint8Array;
}

/**
 * A small store that the host keeps for this run, so that it outlives the handler's worker and is not shared with other
 * runs. Tools with the same `memory` in their metadata share one; without it there is none. The oldest entries make room.
 */
export interface RunMemory {
  /** The value, or undefined. */
  get(key: string): Promise<unknown>;
  /** Keeps plain data; undefined removes. */
  set(key: string, value: unknown): Promise<void>;
}

/** What a handler gets beside its arguments. */
export interface ToolContext {
  /** The worktree's absolute canonical path. */
  readonly worktree: string;
  /** The configuration keys that the tool declared in `configKeys`, by their dotted names. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal;
  /** Files, through the guard. */
  readonly workspace: Workspace;
  /** Starts a program directly, without a shell. Needs `access: ["run"]`. */
  exec(argv: readonly string[], options: ExecOptions): Promise<ExecResult>;
  /** Runs a command line: the user's shell, or the checked tree where an allowlist is in force. Needs `access: ["run"]`. */
  shell(command: string, options: ExecOptions): Promise<ExecResult>;
  /** Runs the tool's `part` on each input, spread over the workers that this call may use; results in order. */
  fanout(inputs: readonly unknown[]): Promise<unknown[]>;
  /**
   * Asks the web: the host decides about every hop and asks from a worker that reaches nothing else. Needs
   * `access: ["net"]`. Throws `ToolError`: kind `permission` where the web rules refuse, `timeout`, `execution`.
   */
  fetch(request: FetchRequest): Promise<FetchResponse>;
  /** What the tools of this run remember; see {@link RunMemory}. */
  readonly memory: RunMemory;
  /** Shows progress of a long call. Text is for the person; the model does not see it. */
  progress(text: string): void;
  /** The narrow port to the engine; only for tools without `access`. */
  readonly host?: HostPort;
  /** Contexts that a library user passed to `executeWith`, by name. */
  readonly extras?: Readonly<Record<string, unknown>>;
}

/** The narrow port by which tools without `access` reach the engine: an operation by name, plain data in and out. */
export interface HostPort {
  /** Whether a person can be asked; absent: perhaps. */
  readonly attended?: boolean;
  /** Performs an operation of the engine; throws `ToolError` where this host does not offer it. */
  call(
    operation: string,
    input: Readonly<Record<string, unknown>>,
    options?: HostCallOptions,
  ): Promise<unknown>;
}

/** What a handler passes on to the host. */
export interface HostCallOptions {
  /** Ends what the host does for the call. */
  readonly signal?: AbortSignal;
  /** Told what happens meanwhile, for the person. */
  readonly progress?: (text: string) => void;
}

/** What the policy and the user interface know about a tool. */
export interface ToolMetadata<A> extends ToolOptions<A> {
  /** Drives the default glyph and verb. */
  readonly category: Category;
  /** The `tool_permission` key that gates it. */
  readonly permission: PermissionKey;
  /** What the handler needs at run time. */
  readonly access: readonly Access[];
}

/** What a tool says of itself: a name and a description, the rest where it has something to say. */
export interface ToolOptions<A> {
  /** Canonical name: `snake_case`, as the model sees it. */
  readonly name: string;
  /** What it does, for the model: one or two sentences. */
  readonly description: string;
  /** Refines a non-deny base action from the current arguments; null defers. One that throws denies. */
  readonly permissionFn?: (args: A, input: ResolverInput) => ResolverAnswer;
  /** Which parameter is a file system path. */
  readonly pathArg?: keyof A & string;
  /**
   * All paths that a call touches, where `pathArg` alone does not tell (a glob pattern that climbs). Pure. Default:
   * `pathArg`'s value (or its default) with the strongest of the tool's access.
   */
  readonly paths?: (args: A) => readonly PathUse[];
  /** Which parameter is a command line that the command rules (`bash_allow`) apply to. */
  readonly commandArg?: keyof A & string;
  /**
   * Programs that the handler may start, as names or absolute paths; called without arguments it lists all that it
   * may ever start with these settings. `"$shell"` stands for the user's shell.
   */
  readonly programs?: (args: A | null, settings: Readonly<Record<string, unknown>>) => readonly string[];
  /** Which parameter is a URL that the web rules apply to. */
  readonly urlArg?: keyof A & string;
  /** Services of the host that `context.fetch` may name. */
  readonly services?: readonly string[];
  /** The store of the run that `context.memory` opens. */
  readonly memory?: string;
  /** Which argument appears in status and confirm labels and in activity lines. */
  readonly keyArg?: keyof A & string;
  /** Activity line override. */
  readonly glyph?: string;
  /** Activity line override. */
  readonly verb?: string;
  /** First line: the label; the rest: dimmed detail lines. Pure. */
  readonly status?: (args: A) => string;
  /** Preview of what will happen (a diff), for confirm prompts; runs on the far side with read access only. */
  readonly preview?: (args: A, context: ToolContext) => string | Promise<string>;
  /** The result is shown dimmed below the status line. */
  readonly echo?: boolean;
  /** Short label for listings. */
  readonly short?: string;
  /** Extra names, absorbed at call time and never advertised. A record presets arguments per alias. */
  readonly aliases?: readonly string[] | { readonly [alias: string]: Partial<A> };
  /** Caller-side parameter synonyms: caller's name → declared name. */
  readonly paramAliases?: { readonly [callerName: string]: keyof A & string };
  /** `/tool` runs it as a real turn of the loop. */
  readonly loop?: boolean;
  /** False: never confirm-gated, even when its category is `ask`. */
  readonly confirm?: boolean;
  /** Whether a result is a failure although it does not begin with `Error: `. */
  readonly error?: (result: string) => boolean;
  /** Whether a result is a soft note (`(empty file)`). */
  readonly note?: (result: string) => boolean;
  /** Refine short `query` arguments by a model call, gated by `query_refine`. */
  readonly refine?: boolean;
  /**
   * Calls of one batch may run beside other such calls. Default: true when `access` has neither write nor run. A
   * function decides by the arguments (cleaned); one that throws says no.
   */
  readonly parallel?: boolean | ((args: A, input: ResolverInput) => boolean);
  /** Configuration key (dotted) of the most calls of this tool that run at the same time. */
  readonly parallelLimit?: string;
  /** Configuration keys (dotted) whose values the handler gets in `context.config`. */
  readonly configKeys?: readonly string[];
  /** Milliseconds after which the worker is ended and the call fails; may depend on the arguments. Default 120,000. */
  readonly timeout?: number | ((args: A) => number);
  /** What to do instead when the timeout ended the call; follows the error message, after `; `. */
  readonly timeoutHint?: string;
  /** Where a result over the cap is cut: at the end, or in the middle (commands). Default `end`. */
  readonly truncate?: "end" | "middle";
  /** Names of contexts that `executeWith` must be given (library use). */
  readonly requires?: readonly string[];
  /** Handles one input of `context.fanout`. */
  readonly part?: (input: any, context: ToolContext) => unknown | Promise<unknown>;
}

/** What {@link defineTool} takes. */
export interface ToolSpec<S, A> extends ToolOptions<A> {
  /** What the handler needs at run time. Default: nothing. */
  readonly access?: readonly Access[];
  /** Drives the default glyph and verb. Default: what fits `access` (run: exec, write: write, net: search, else read). */
  readonly category?: Category;
  /** The `tool_permission` key that gates it. Default: what fits `access` (run: bash, write: edit, net: web, else read). */
  readonly permission?: PermissionKey;
  /** JSON Schema of the arguments, or a Standard Schema that carries it. */
  readonly parameters: S;
  /** The handler. Throw `ToolError` for failures; what is returned goes to the model. */
  readonly execute: (args: A, context: ToolContext) => ToolOutput | Promise<ToolOutput>;
}

/** What a provider is told of a tool. */
export interface ToolDefinition {
  /** Canonical name. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: ObjectSchema;
}

/** A defined tool, its arguments' type erased so that a registry can hold any. */
export interface Tool extends ToolMetadata<any> {
  /** JSON Schema of the arguments. */
  readonly parameters: ObjectSchema;
  /** Validator, where the tool was defined with a Standard Schema. */
  readonly validator?: StandardSchema;
  /** Name of the installed plugin that brings it: its handler reaches the plugin's own process, not a worker. */
  readonly plugin?: string;
  /** The handler. */
  readonly execute: (args: any, context: ToolContext) => ToolOutput | Promise<ToolOutput>;
}

/** Several related tools with shared state. */
export interface Toolset {
  /** The tools of the set. */
  tools(): readonly Tool[];
}

/**
 * Defines a tool. Argument types are inferred from `parameters`; a parameter with a `default` is optional for the
 * caller and always present in the handler. A Standard Schema (zod, arktype, valibot through
 * `@valibot/to-json-schema`) also validates the arguments, and its defaults and transformations count.
 *
 * @throws {TypeError} when the name is not `snake_case`, description, schema or handler is missing, the schema is not an
 * object's, or metadata or `required` names a parameter that the schema does not declare
 *
 * @example
 * ```ts
 * import { defineTool } from "@polyglav/cli/tools";
 *
 * const wordCount = defineTool({
 *   name: "word_count",
 *   description: "Count the words of a text.",
 *   parameters: {
 *     type: "object",
 *     properties: { text: { type: "string", description: "The text." } },
 *     required: ["text"],
 *   },
 *   execute: ({ text }) => `${text.split(/\s+/).filter(Boolean).length} words`,
 * });
 * ```
 */
export function defineTool<const S extends ObjectSchema | StandardSchema>(
  spec: ToolSpec<S, InferArguments<S>>,
): Tool {
  const erased = spec as unknown as ToolSpec<ObjectSchema | StandardSchema, any>;
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(erased.name)) {
    throw new TypeError(
      `Cannot define tool "${erased.name}": a name is lower case letters, digits and "_", at most 64, and begins with a letter`,
    );
  }
  const problem = specProblem(erased);
  if (problem !== null) throw new TypeError(`Cannot define tool "${erased.name}": ${problem}`);
  const standard = "~standard" in erased.parameters ? erased.parameters as StandardSchema : undefined;
  const parameters = standard ? schemaOf(erased.name, standard) : erased.parameters as ObjectSchema;
  if (parameters.type !== "object" || typeof parameters.properties !== "object") {
    throw new TypeError(`Cannot define tool "${erased.name}": parameters must be the schema of an object`);
  }
  const declared = new Set(Object.keys(parameters.properties));
  const absent = parameters.required?.find((name) => !declared.has(name));
  if (absent !== undefined) {
    throw new TypeError(
      `Cannot define tool "${erased.name}": "required" names the parameter "${absent}", which the schema does not declare`,
    );
  }
  const named = [
    erased.pathArg,
    erased.commandArg,
    erased.urlArg,
    erased.keyArg,
    ...Object.values(erased.paramAliases ?? {}),
  ];
  for (const name of named) {
    if (name !== undefined && !declared.has(name)) {
      throw new TypeError(
        `Cannot define tool "${erased.name}": metadata names the parameter "${name}", which the schema does not declare`,
      );
    }
  }
  const access = erased.access ?? [];
  return Object.freeze({ ...defaultsFor(access), ...erased, access, parameters, validator: standard });
}

/** What a specification lacks that no type checker looked at; null: nothing. */
function specProblem({ description, parameters, execute }: ToolSpec<unknown, any>): string | null {
  if (typeof description !== "string" || description.trim() === "") {
    return "it needs a description, which tells the model what it does";
  }
  if ((typeof parameters !== "object" && typeof parameters !== "function") || parameters === null) {
    return 'it needs parameters; {"type": "object", "properties": {}} takes none';
  }
  return typeof execute === "function" ? null : "it needs a handler: a function named execute";
}

/** Category and permission of a tool that does not name them: never laxer than what its access can do. */
function defaultsFor(access: readonly Access[]): { category: Category; permission: PermissionKey } {
  if (access.includes("run")) return { category: "exec", permission: "bash" };
  if (access.includes("write")) return { category: "write", permission: "edit" };
  if (access.includes("net")) return { category: "search", permission: "web" };
  return { category: "read", permission: "read" };
}

function schemaOf(name: string, schema: StandardSchema): ObjectSchema {
  const source = schema["~standard"].jsonSchema;
  if (!source) {
    throw new TypeError(
      `Cannot define tool "${name}": its ${schema["~standard"].vendor} schema carries no JSON Schema; ` +
        `wrap it (valibot: toStandardJsonSchema of @valibot/to-json-schema) or pass plain JSON Schema`,
    );
  }
  try {
    const { $schema: _, ...json } = source.input({ target: "draft-2020-12" });
    return json as unknown as ObjectSchema;
  } catch (error) {
    throw new TypeError(
      `Cannot define tool "${name}": its ${
        schema["~standard"].vendor
      } schema cannot be written as JSON Schema: ${error instanceof Error ? error.message : error}`,
      { cause: error },
    );
  }
}
