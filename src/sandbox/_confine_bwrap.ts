/**
 * The command line of bubblewrap. Source: bwrap(1), version 0.8; `--tmp-overlay` from 0.11 on.
 *
 * @module
 */
import { dirname, isWithin } from "../text/path.ts";
import type { ConfineSpec } from "./confine.ts";

/** Folders that confined commands get private and empty, where they exist: what lies there is shared between programs. */
export const PRIVATE: readonly string[] = ["/tmp", "/var/tmp", "/run"];

/** How bubblewrap gets its rights here; found by the probe. */
export interface BwrapRights {
  /** Ask for a user namespace although the caller is root (a container's root without CAP_SYS_ADMIN). */
  readonly userNamespace: boolean;
  /** Runs as the real root: keeps the rights over foreign files in the worktree that root is used to. */
  readonly root: boolean;
}

/** What every use begins with: everything read-only, no way to gain rights, nothing of other processes. */
export function bwrapBase({ userNamespace, root }: BwrapRights): string[] {
  return [
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    ...(userNamespace ? ["--unshare-user"] : []),
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--new-session",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
    ...(root ? ["CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER"].flatMap((name) => ["--cap-add", name]) : []),
  ];
}

/** Everything before `-- argv`: pure. Mounts go from the root down, because a later one lies over an earlier one. */
export function bwrapArguments(spec: ConfineSpec, cwd: string): string[] {
  const mounts: { path: string; words: string[] }[] = [];
  const mount = (path: string, ...words: string[]) => mounts.push({ path, words });
  const isPrivate = (path: string) => spec.private.some((each) => isWithin(path, each));
  for (const path of spec.private) mount(path, "--tmpfs", path);
  // The resolver's configuration is often a link into /run.
  for (const path of ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf"]) {
    mount(path, "--ro-bind-try", path, path);
  }
  for (const path of [spec.home, cwd]) {
    if (isPrivate(path) && !isWithin(path, spec.worktree)) mount(path, "--ro-bind-try", path, path);
  }
  for (const path of spec.writable) mount(path, "--bind-try", path, path);
  for (const path of spec.overlays) mount(path, "--overlay-src", path, "--tmp-overlay", path);
  for (const path of spec.empty) mount(path, "--tmpfs", path);
  mount(spec.worktree, "--bind", spec.worktree, spec.worktree);
  for (const path of spec.git) mount(path, "--bind", path, path);
  for (const { path } of spec.protect) mount(path, "--ro-bind", path, path);
  for (const [list, mode] of [[spec.absent, "0555"], [spec.hide, "0500"]] as const) {
    for (const { path, directory } of list) {
      if (directory) mount(path, "--perms", mode, "--tmpfs", path, "--remount-ro", path);
      else mount(path, "--dev-bind", "/dev/null", path); // reads as empty, and what is written is gone
    }
  }
  const depth = (path: string) => path === "/" ? 0 : path.split("/").length;
  // A worktree at the root of everything comes before /dev and /proc, which stay private.
  const sorted = mounts.sort((a, b) => depth(a.path) - depth(b.path));
  const [roots, rest] = [
    sorted.filter((each) => each.path === "/"),
    sorted.filter((each) => each.path !== "/"),
  ];
  const base = bwrapBase(spec);
  base.splice(3, 0, ...roots.flatMap((each) => each.words));
  return [
    ...base,
    ...(spec.network ? [] : ["--unshare-net"]),
    ...rest.flatMap((each) => each.words),
    // Held while the command runs: see bwrapCleanup.
    ...foldersOf(spec).flatMap((path) => ["--lock-file", path]),
    "--setenv",
    "TMPDIR",
    "/tmp",
    // The worktree is a mount of its own: without this git finds no repository that begins further up.
    "--setenv",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "1",
    "--chdir",
    cwd,
  ];
}

/** Folders in which absent paths are covered. */
function foldersOf(spec: ConfineSpec): string[] {
  return [...new Set(spec.absent.map((each) => dirname(each.path)))];
}

/**
 * Takes the mount points away that {@link bwrapArguments} had to make for absent paths; only ones that are empty, and
 * none in a folder that another confined command holds a lock on: with a mount point its mount would go, too.
 */
export function bwrapCleanup(spec: ConfineSpec): string[] {
  const rights = bwrapBase(spec), from = rights.indexOf("--cap-drop");
  // As little as possible is set up (it costs milliseconds after each command), and it goes on when we are ended.
  const args = [spec.program, "--ro-bind", "/", "/", ...rights.slice(from)];
  if (spec.userNamespace) args.push("--unshare-user");
  for (const path of foldersOf(spec)) args.push("--bind", path, path);
  return [...args, "--", "/bin/sh", "-c", CLEANUP, "sh", ...spec.absent.map((each) => each.path)];
}

/**
 * What the cleanup runs. Locks are read with the shell's own means. Where they cannot be read nothing is taken away: an
 * empty file that stays harms less than a mount that goes.
 */
const CLEANUP = [
  'held=; while read -r line; do held="$held$line;"; done < /proc/locks || exit 0',
  'in=; for p do d="${p%/*}"; [ "$d" = "$in" ] || { in=$d; i=$(ls -di "$d/") || i=; i=${i#"${i%%[! ]*}"}; i=${i%% *}; }',
  'case "$i;$held" in ";"*|*":$i "*) continue;; esac',
  'if [ -d "$p" ] && [ ! -L "$p" ]; then rmdir "$p"',
  'elif [ -f "$p" ] && [ ! -L "$p" ] && [ ! -s "$p" ]; then rm -f "$p"; fi; done',
].join("; ");
