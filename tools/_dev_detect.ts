/**
 * How a project says that it is tested, linted and formatted.
 *
 * @module
 */
import { join } from "../src/text/path.ts";
import type { Workspace } from "../src/tool.ts";
import type { DevCommand, DevKind } from "./_dev.ts";

/** Names of tasks, scripts and targets, the first that is there. */
const NAMES: Readonly<Record<DevKind, readonly string[]>> = {
  test: ["test", "tests"],
  lint: ["lint"],
  format: ["format", "fmt"],
};

/** Largest project file that is read. */
const MAX_BYTES = 1 << 20;

type Detector = (kind: DevKind, project: Project) => DevCommand | null;

/** The project's files in one directory. */
class Project {
  readonly #workspace: Workspace;
  readonly #directory: string;

  constructor(workspace: Workspace, directory: string) {
    this.#workspace = workspace;
    this.#directory = directory;
  }

  has(name: string): boolean {
    try {
      return this.#workspace.status(join(this.#directory, name))?.kind === "file";
    } catch {
      return false;
    }
  }

  text(name: string): string | null {
    if (!this.has(name)) return null;
    try {
      const bytes = this.#workspace.readFile(join(this.#directory, name), { maxBytes: MAX_BYTES });
      return new TextDecoder().decode(bytes);
    } catch {
      return null;
    }
  }
}

/** The project's own command, or null where no file says one. */
export function detect(kind: DevKind, workspace: Workspace, directory: string): DevCommand | null {
  const project = new Project(workspace, directory);
  for (const detector of [deno, node, python, cargo, goModule, makefile]) {
    const found = detector(kind, project);
    if (found) return found;
  }
  return null;
}

const deno: Detector = (kind, project) => {
  const file = ["deno.json", "deno.jsonc"].find((name) => project.has(name));
  if (!file) return null;
  const tasks = member(parse(project.text(file)), "tasks");
  const task = NAMES[kind].find((name) => typeof tasks?.[name] === "string" || member(tasks, name));
  if (task) return { argv: ["deno", "task", task], why: `${file}: task ${task}`, target: "append" };
  const verb = { test: "test", lint: "lint", format: "fmt" }[kind];
  return {
    argv: ["deno", verb],
    why: `${file}: no task ${NAMES[kind][0]}, so deno ${verb}`,
    target: "append",
  };
};

const node: Detector = (kind, project) => {
  const scripts = member(parse(project.text("package.json")), "scripts");
  const script = NAMES[kind].find((name) => {
    const text = scripts?.[name];
    // What `npm init` writes is no test.
    return typeof text === "string" && text.trim() !== "" && !/no test specified/.test(text);
  });
  if (!script) return null;
  const managers = [["pnpm-lock.yaml", "pnpm"], ["yarn.lock", "yarn"], ["bun.lock", "bun"], [
    "bun.lockb",
    "bun",
  ]] as const;
  const manager = managers.find(([file]) => project.has(file))?.[1] ?? "npm";
  return {
    argv: [manager, "run", script],
    why: `package.json: script ${script}`,
    target: manager === "npm" ? "after-dashes" : "append",
  };
};

const python: Detector = (kind, project) => {
  const toml = project.text("pyproject.toml") ?? "", cfg = project.text("setup.cfg") ?? "";
  const needs = project.text("requirements.txt") ?? project.text("requirements-dev.txt") ?? "";
  const table = (name: string) => new RegExp(`^\\s*\\[tool\\.${name}[.\\]]`, "m").test(toml);
  const source = toml !== "" ? "pyproject.toml" : "the project's configuration";
  if (kind === "test") {
    const why = project.has("pytest.ini")
      ? "pytest.ini"
      : table("pytest")
      ? "pyproject.toml: tool.pytest"
      : /^\[tool:pytest\]/m.test(cfg)
      ? "setup.cfg: tool:pytest"
      : project.has("conftest.py")
      ? "conftest.py"
      : /["'\s]pytest\b/.test(toml) || /^pytest\b/m.test(needs)
      ? `${toml === "" ? "requirements" : "pyproject.toml"}: pytest`
      : null;
    return why ? { argv: ["python", "-m", "pytest"], why: `${why}, so pytest`, target: "append" } : null;
  }
  const verb = kind === "lint" ? "check" : "format";
  if (table("ruff") || project.has("ruff.toml") || project.has(".ruff.toml")) {
    return { argv: ["ruff", verb, "."], why: `${source}: ruff`, target: "replace-last" };
  }
  if (kind === "format" && table("black")) {
    return { argv: ["black", "."], why: "pyproject.toml: tool.black", target: "replace-last" };
  }
  return null;
};

const cargo: Detector = (kind, project) => {
  if (!project.has("Cargo.toml")) return null;
  const verb = { test: "test", lint: "clippy", format: "fmt" }[kind];
  return {
    argv: ["cargo", verb],
    why: `Cargo.toml, so cargo ${verb}`,
    target: kind === "test" ? "append" : "none",
  };
};

const goModule: Detector = (kind, project) => {
  if (!project.has("go.mod")) return null;
  const argv =
    { test: ["go", "test", "./..."], lint: ["go", "vet", "./..."], format: ["gofmt", "-w", "."] }[kind];
  return { argv, why: `go.mod, so ${argv.slice(0, 2).join(" ")}`, target: "replace-last" };
};

const makefile: Detector = (kind, project) => {
  const file = ["GNUmakefile", "makefile", "Makefile"].find((name) => project.has(name));
  const text = file ? project.text(file) ?? "" : "";
  const names = kind === "test" ? [...NAMES.test, "check"] : NAMES[kind];
  const target = names.find((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(text));
  return target ? { argv: ["make", target], why: `${file}: target ${target}`, target: "none" } : null;
};

/** JSON with comments and trailing commas, leniently; null where it is broken. */
function parse(text: string | null): unknown {
  if (text === null) return null;
  const plain = text.replace(
    /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (part) => part.startsWith('"') ? part : " ",
  )
    .replace(/"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g, (part) => part === "," ? "" : part);
  try {
    return JSON.parse(plain.replace(/^\ufeff/, ""));
  } catch {
    return null;
  }
}

function member(value: unknown, name: string): Record<string, unknown> | null {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
  const found = (value as Record<string, unknown>)[name];
  return typeof found === "object" && found !== null && !Array.isArray(found)
    ? found as Record<string, unknown>
    : null;
}
