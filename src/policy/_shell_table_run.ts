/**
 * Rows of the command table: programs whose arguments are programs, shells and interpreters, and the network.
 *
 * @module
 */
import { type ProgramEntry, words } from "./_shell_table.ts";

const RUNS = "starts a program of the caller's choice";
const CODE = "runs code from the command line";
const STDIN = "reads its program from standard input";
const WRITES = "writes a file of the caller's choice";

/** A program whose operands from `from` on are a command line. */
function wrapper(
  names: readonly string[],
  from: number,
  refused: string,
  allowed: string,
  values = "",
): ProgramEntry {
  return { names, values, stops: true, rows: [{ operandsFrom: from, why: RUNS, refused, allowed }] };
}

/**
 * An interpreter: code in an option, in standard input, or in a file that is the first operand. Of the options before that
 * file only the harmless ones need no spelling out.
 */
function interpreter(
  names: string,
  harmless: string,
  refused: string,
  extra: Partial<ProgramEntry> & { readonly info?: string } = {},
): ProgramEntry {
  const all = words(names), name = all[0]!, { info = "", ...rest } = extra;
  const told = ["--version", "--help", "-V", ...words(info)];
  return {
    names: all,
    stops: true,
    ...rest,
    rows: [
      { others: [...words(harmless), ...told], why: CODE, refused, allowed: `${name} script` },
      { bare: told, why: STDIN, refused: name, allowed: `${name} --version` },
      {
        operands: /^(-|\/+dev\/.*|\/+proc\/.*)$/,
        literal: true,
        why: STDIN,
        refused: `${name} /dev/stdin`,
        allowed: `${name} other`,
      },
    ],
  };
}

/** Wrappers, shells, interpreters, editors, debuggers and network clients. */
export const RUN_PROGRAMS: readonly ProgramEntry[] = [
  wrapper(["xargs", "gxargs"], 0, "xargs -n1 touch", "xargs --version", "nIPLEdsa"),
  {
    names: ["env", "genv"],
    values: "uC",
    stops: true,
    rows: [
      { operandsFrom: 0, why: RUNS, refused: "env touch a", allowed: "env" },
      { options: ["-S", "--split-string"], why: RUNS, refused: "env '-Stouch a'", allowed: "env -0" },
    ],
  },
  wrapper(["nice", "ionice", "chrt", "taskset"], 0, "nice -n 5 touch a", "nice", ""),
  wrapper(
    ["nohup", "setsid", "setarch", "stdbuf", "unbuffer", "chronic", "eatmydata"],
    0,
    "nohup touch a",
    "nohup --version",
  ),
  {
    names: ["timeout", "gtimeout"],
    values: "ks",
    stops: true,
    rows: [{ operandsFrom: 1, why: RUNS, refused: "timeout 5 touch a", allowed: "timeout --version" }],
  },
  wrapper(["gtime", "time", "hyperfine", "perf", "valgrind"], 0, "gtime touch a", "gtime --version"),
  wrapper(
    words(`sudo doas su runuser pkexec gosu chroot unshare nsenter bwrap firejail fakeroot capsh
    systemd-run dbus-run-session flock script expect socat nc ncat netcat`),
    0,
    "sudo touch a",
    "sudo --version",
  ),
  wrapper(
    words(`parallel watch entr watchexec nodemon concurrently cross-env dotenv direnv foreman tmux
    screen at batch crontab`),
    0,
    "watch touch a",
    "watch --version",
  ),
  wrapper(["strace", "ltrace", "gdb", "lldb", "rr", "dtrace"], 0, "strace touch a", "strace --version"),
  wrapper(["busybox", "toybox", "coreutils"], 0, "busybox touch a", "busybox --help"),
  wrapper(
    ["start", "open", "xdg-open", "cmd", "powershell", "pwsh", "wsl", "rundll32", "osascript"],
    0,
    "open a",
    "open",
  ),
  wrapper(["ssh", "slogin", "mosh", "rsh"], 1, "ssh host touch", "ssh host", "pli"),
  {
    names: ["git-shell", "run-parts", "exec", "ld", "ld-linux-x86-64.so", "ld-linux"],
    rows: [{ operandsFrom: 0, why: RUNS, refused: "run-parts dir", allowed: "run-parts --version" }],
  },
  {
    names: ["ssh", "slogin"],
    values: "pli",
    rows: [{
      options: ["-o", "-F", "-E", "-D", "-L", "-R", "-w", "-W", "-I", "-J", "-S"],
      why: "sets an option that starts a program or opens a tunnel",
      refused: "ssh -oProxyCommand=x host",
      allowed: "ssh -p 22 host",
    }],
  },
  {
    names: ["scp", "sftp"],
    values: "Pil",
    writes: { operands: "last" },
    rows: [{
      options: ["-o", "-S", "-F", "-D", "-J", "-b"],
      why: RUNS,
      refused: "scp -o ProxyCommand=x a.txt host:b",
      allowed: "scp -P 22 host:a.txt b.txt",
    }],
  },
  {
    names: ["rsync"],
    values: "BT",
    writes: { operands: "last" },
    rows: [
      {
        options: ["-e", "--rsh", "--rsync-path", "--early-input", "-M", "--remote-option"],
        why: RUNS,
        refused: "rsync -ae ./x a b",
        allowed: "rsync -a a b",
      },
      {
        options: words(`--log-file --write-batch --only-write-batch --backup-dir --partial-dir --temp-dir -T
          --daemon --config`),
        why: WRITES,
        refused: "rsync --log-file=x a b",
        allowed: "rsync -n a b",
      },
    ],
  },
  interpreter(
    "sh bash dash zsh ksh mksh fish csh tcsh ash rbash yash elvish nu",
    "-e -u -x -v -f -n --posix --norc --noprofile",
    "bash -ec 'touch a'",
    { ends: ["-c"] },
  ),
  interpreter(
    "python pypy pythonw ipython bpython jython micropython",
    "-u -B -O -OO -s -S -E -I -P -v -q -b -bb -d --version",
    "python3 -Sc 'x'",
    { ends: ["-m", "-c"] },
  ),
  interpreter(
    "node nodejs iojs",
    `--test --test-only --watch --no-warnings --trace-warnings --trace-deprecation --trace-uncaught --no-deprecation
    --throw-deprecation --pending-deprecation --enable-source-maps --experimental-strip-types --expose-gc
    --max-old-space-size --stack-size --test-name-pattern --test-concurrency --test-timeout --unhandled-rejections
    --preserve-symlinks --no-addons`,
    "node -pe 'x'",
    { info: "-v --test" },
  ),
  interpreter("perl", "-w -W -t -T -c -v", "perl -wne 'x' a.txt", { info: "-v" }),
  interpreter("ruby jruby", "-w -W -v -c --disable-gems --yjit --jit", "ruby -we 'x'", { info: "-v" }),
  interpreter("php hhvm", "-n -q -l", "php -r 'x'", { info: "-v -i -m" }),
  interpreter("lua luajit texlua", "-v -W", "lua -e 'x'", { info: "-v" }),
  interpreter(
    `r rscript julia octave ghc runghc runhaskell ghci elixir iex erl escript scala groovy jshell clojure clj bb guile
    racket sbcl emacs ocaml tclsh wish osh ts-node tsx nix dotnet-script irb pry coffee babel-node esno zx swift csi fsi
    newlisp gawk-csv m4 gnuplot maxima gap sage mathematica wolframscript`,
    "--vanilla --no-save",
    "rscript -e x",
  ),
  {
    names: ["deno", "bun", "polyglav"],
    rows: [
      {
        operandsFrom: 0,
        why: "can start anything",
        refused: "deno eval 1",
        allowed: "deno --version",
      },
      {
        options: ["-A", "--allow-all", "-c", "--config", "-e", "-p", "-r"],
        why: "can do anything",
        refused: "deno -A",
        allowed: "deno --version",
      },
    ],
  },
  {
    names: words("ed ex vi vim nvim vimdiff view nano pico emacsclient joe micro helix hx kak"),
    rows: [
      {
        operandsFrom: 0,
        why: "is an editor that starts programs and writes files",
        refused: "ed a.txt",
        allowed: "ed --version",
      },
      {
        options: ["+", "-c", "-s", "-S", "-u", "-E", "-e", "--cmd", "--eval"],
        why: "runs commands of the editor",
        refused: "ex -c",
        allowed: "ex --version",
      },
      {
        bare: ["--version", "--help"],
        why: "reads commands from standard input",
        refused: "ed",
        allowed: "ed --help",
      },
    ],
  },
  {
    names: ["bc", "dc"],
    rows: [
      {
        bare: ["--version", "--help"],
        why: "reads commands, `!` among them, from standard input",
        refused: "dc",
        allowed: "dc --version",
      },
      {
        options: ["-e", "--expression", "-f", "--file"],
        why: CODE,
        refused: "dc -e '!x'",
        allowed: "dc --help",
      },
      { operandsFrom: 0, why: "runs a script", refused: "dc x", allowed: "bc --version" },
    ],
  },
  {
    names: words("sqlite psql mysql mariadb mongosh mongo redis-cli duckdb clickhouse-client"),
    rows: [
      {
        operandsFrom: 0,
        why: "is a shell of a database with commands of its own",
        refused: "sqlite3 a.db",
        allowed: "sqlite3 --version",
      },
      {
        options: words(
          `-init -cmd -c --command -f --file -o --output -L --log-file -e --execute --eval --pager
          --tee -A -s --shell -d -h -U -u -p`,
        ),
        why: CODE,
        refused: "psql -c",
        allowed: "mysql --help",
      },
      { bare: ["--version", "--help"], why: STDIN, refused: "psql", allowed: "psql --version" },
    ],
  },
  {
    names: ["curl"],
    values: "HAbdFeEmrtuUwxyYz",
    rows: [
      {
        options: words(`-o -O --output --remote-name --remote-name-all -J --remote-header-name --output-dir -D
          --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --hsts --alt-svc
          --libcurl --create-dirs`),
        why: WRITES,
        refused: "curl -so out http://127.0.0.1/",
        allowed: "curl -s http://127.0.0.1/",
      },
      {
        options: ["-K", "--config", "-q", "--engine", "-T", "--upload-file"],
        why: "takes options from a file, loads code or uploads",
        refused: "curl -K x",
        allowed: "curl -I http://127.0.0.1/",
      },
      {
        anywhere: /%output|^@|=[@<]|^-[A-Za-z]*[dFw]@/,
        why: "reads or writes a file that an argument names",
        refused: "curl -w %output{x} http://127.0.0.1/",
        allowed: "curl -w %{http_code} http://127.0.0.1/",
      },
      {
        options: ["--unix-socket", "--abstract-unix-socket"],
        why: "talks to a program of this machine",
        refused: "curl --unix-socket x http://127.0.0.1/",
        allowed: "curl --url http://127.0.0.1/",
      },
      {
        operands: /^(?!https?:)[A-Za-z][A-Za-z0-9+.-]*:/,
        why: "uses another protocol than HTTP",
        refused: "curl file:///etc/passwd",
        allowed: "curl https://127.0.0.1/",
      },
    ],
  },
  {
    names: ["wget", "aria2c", "axel", "lftp", "ftp", "wget2"],
    rows: [
      { operandsFrom: 0, why: WRITES, refused: "wget http://127.0.0.1/", allowed: "wget --version" },
      {
        options: words(`-O -o -a -P -i -e --execute --use-askpass --config --output-document --output-file
          --append-output --input-file --directory-prefix --save-cookies --on-download-complete -c`),
        why: "starts a program or writes a file",
        refused: "wget --use-ask=./x",
        allowed: "wget --help",
      },
    ],
  },
  {
    names: ["openssl", "gpg", "gpgsm"],
    rows: [{
      operandsFrom: 0,
      why: "writes files, loads engines or serves",
      refused: "openssl rand -out x 8",
      allowed: "openssl --version",
    }, {
      options: words(`-o --output -engine --gpgconf-path --agent-program --exec-path --photo-viewer
        --pinentry-program --options --homedir`),
      why: "writes a file or starts a program",
      refused: "gpg -o",
      allowed: "gpg --version",
    }],
  },
  {
    names: words(
      "ifne pee mispipe vipe vidir zrun sponge ldd ip tcpdump tshark nmap fzf sk systemctl service launchctl",
    ),
    rows: [
      {
        operandsFrom: 0,
        why: "starts programs or writes files",
        refused: "ifne touch a",
        allowed: "ip --help",
      },
      {
        others: ["--version", "--help", "-h", "-V"],
        why: "starts programs or writes files",
        refused: "tcpdump -zx",
        allowed: "nmap --version",
      },
    ],
  },
  {
    names: words("rename prename file-rename perl-rename"),
    rows: [{
      operandsFrom: 0,
      why: "runs its first operand as code",
      refused: "rename s/a/b/e a",
      allowed: "rename --help",
    }, {
      options: ["-e", "-E", "-M", "-I"],
      why: CODE,
      refused: "rename -e",
      allowed: "rename --version",
    }],
  },
  {
    names: words("lynx w3m links elinks"),
    rows: [{
      others: words("-dump -nolist -source --version -version -help"),
      why: "starts programs or writes files",
      refused: "lynx -cmd_script=x http://127.0.0.1/",
      allowed: "lynx -dump http://127.0.0.1/",
    }],
    style: "whole",
  },
];
