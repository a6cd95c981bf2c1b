/**
 * Rows of the command table: version control, build tools, package managers and containers.
 *
 * @module
 */
import { type ArgumentRow, type ProgramEntry, words } from "./_shell_table.ts";

const RUNS = "starts a program of the caller's choice";
const WRITES = "writes a file of the caller's choice";
const SUBCOMMAND = "is a subcommand that starts other programs, or an unknown one";

/** A program of which some subcommands alone are harmless. */
function tool(
  names: string,
  harmless: string,
  refused: string,
  allowed: string,
  extra: Partial<ProgramEntry> & { readonly valued?: string; readonly flags?: string } = {},
): ProgramEntry {
  const { valued = "", flags = "", rows = [], ...rest } = extra;
  return {
    names: words(names),
    ...rest,
    subcommands: {
      harmless: words(harmless),
      valued: words(valued),
      flags: ["--version", "--help", "-v", "-V", "-h", ...words(flags)],
      why: SUBCOMMAND,
      refused,
      allowed,
    },
    rows,
  };
}

const gitRows: readonly ArgumentRow[] = [
  {
    options: ["--output", "--output-directory", "--unsafe-paths"],
    why: WRITES,
    refused: "git log --outp=out",
    allowed: "git log --oneline",
  },
  {
    options: ["--ext-diff", "--textconv", "--filters"],
    why: "starts programs that the repository's configuration names",
    refused: "git diff --ext-diff",
    allowed: "git diff --text",
  },
  {
    options: words(`--upload-pack --receive-pack --exec --template --config --config-env --exec-path`),
    why: RUNS,
    refused: "git fetch --upload-pack=./x",
    allowed: "git fetch --prune",
  },
  {
    options: ["-u", "-c"],
    under: ["clone", "init", "ls-remote"],
    why: RUNS,
    prefix: "git clone",
    refused: "git clone -u ./x url dir",
    allowed: "git clone url dir",
  },
  {
    options: ["-x"],
    under: ["rebase"],
    why: RUNS,
    refused: "git rebase -x ./x main",
    allowed: "git rebase main",
  },
  {
    options: ["-O", "--open-files-in-pager"],
    under: ["grep"],
    why: RUNS,
    refused: "git grep -O./x a",
    allowed: "git grep a",
  },
  {
    options: ["-s", "--sign", "-u", "--local-user", "-v", "--verify"],
    under: ["tag"],
    why: "starts the signing program of the configuration",
    refused: "git tag -s x",
    allowed: "git tag -l",
  },
  {
    options: ["--show-signature"],
    why: "starts the signing program of the configuration",
    refused: "git log --show-sig",
    allowed: "git log --stat",
  },
  {
    options: ["-S", "--gpg-sign", "--verify-signatures"],
    under: ["commit", "merge", "pull", "cherry-pick", "revert", "rebase"],
    why: "starts the signing program of the configuration",
    refused: "git merge -S main",
    allowed: "git merge --no-edit main",
  },
  {
    options: ["--strategy", "-s"],
    under: ["merge", "pull", "rebase", "cherry-pick", "revert"],
    why: "starts a merge program `git-merge-NAME`",
    refused: "git merge -s x main",
    allowed: "git merge --ff-only main",
  },
  {
    options: ["-o", "--remote"],
    under: ["archive", "format-patch", "bundle"],
    why: WRITES,
    refused: "git archive -o out.tar HEAD",
    allowed: "git archive --list",
  },
  {
    operands: /::/,
    under: ["fetch", "pull", "push", "clone", "ls-remote", "remote", "submodule", "archive"],
    why: "names a transport helper, which is a program",
    refused: "git fetch ext::x",
    allowed: "git fetch origin",
  },
  {
    options: ["-e", "--edit", "-i", "--interactive", "-p", "--patch", "--edit-todo", "--edit-description"],
    under: ["rebase", "branch"],
    why: "starts the editor",
    refused: "git rebase -i main",
    allowed: "git rebase --abort",
  },
  {
    operands: /^(run|visualize|view|replay)$/,
    under: ["bisect"],
    why: RUNS,
    refused: "git bisect run ./x",
    allowed: "git bisect start",
  },
  {
    operands: /^(foreach|add|update|summary)$/,
    under: ["submodule"],
    why: RUNS,
    refused: "git submodule foreach ./x",
    allowed: "git submodule status",
  },
  {
    operands: /^(add|set-url|update)$/,
    under: ["remote"],
    why: "changes where git fetches from",
    refused: "git remote add x url",
    allowed: "git remote --verbose",
  },
  {
    options: ["--git-dir", "--work-tree", "--super-prefix", "--separate-git-dir"],
    why: "names a repository whose configuration starts programs",
    refused: "git --git-dir=x status",
    allowed: "git -C src status",
  },
];

const goRows: readonly ArgumentRow[] = [
  {
    options: words(`-exec -toolexec -vettool -overlay -modfile -ldflags -gccgoflags -gcflags -asmflags
      -modcacherw -pkgdir -compiler -C`),
    why: RUNS,
    refused: "go test -exec ./x",
    allowed: "go test ./...",
  },
  {
    options: words(`-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir
      -test.outputdir -w`),
    why: WRITES,
    refused: "go build -o out",
    allowed: "go build",
  },
];

/** Version control, build tools, compilers, package managers, containers. */
export const DEV_PROGRAMS: readonly ProgramEntry[] = [
  tool(
    "git",
    `add annotate apply bisect blame branch cat-file check-ignore checkout cherry cherry-pick clean commit
    count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref fsck grep log ls-files ls-remote
    ls-tree merge merge-base mv name-rev notes pull push range-diff rebase reflog remote reset restore rev-list rev-parse
    revert rm shortlog show show-branch show-ref stash status submodule switch symbolic-ref tag verify-commit version
    whatchanged archive`,
    "git difftool",
    "git -C src status",
    {
      valued: "-C --namespace",
      flags:
        "-p --paginate -P --no-pager --no-optional-locks --no-replace-objects --bare --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs",
      exact: ["--text", "--no-textconv", "--no-ext-diff"],
      rows: gitRows,
    },
  ),
  tool(
    "hg",
    "status log diff cat annotate blame branch branches files heads id identify manifest paths summary tags tip",
    "hg help",
    "hg status",
    {
      rows: [
        {
          options: ["--config", "--config-file", "-R", "--repository", "--cwd"],
          why: RUNS,
          refused: "hg log --conf=x=y",
          allowed: "hg log",
        },
        {
          options: ["--tool", "-o", "--output", "--pager"],
          why: WRITES,
          refused: "hg cat -o out a",
          allowed: "hg cat a",
        },
      ],
    },
  ),
  tool("svn", "status st stat log diff di info list ls cat blame", "svn switch", "svn info", {
    rows: [{
      options: ["--diff-cmd", "--config-option", "--config-dir", "--editor-cmd", "-F"],
      why: RUNS,
      refused: "svn diff --diff-cmd ./x",
      allowed: "svn diff",
    }],
  }),
  tool(
    "gh glab",
    "pr issue run repo release search status workflow label",
    "gh alias",
    "gh status",
    {
      rows: [
        {
          options: ["-w", "--web", "-e", "--editor"],
          why: "starts a browser or editor",
          refused: "gh pr view -w",
          allowed: "gh pr view",
        },
        {
          operands: /^(checkout|co|clone|download|create|fork|sync)$/,
          why: "starts git or writes files",
          refused: "gh pr checkout 1",
          allowed: "gh pr list",
        },
      ],
    },
  ),
  tool(
    "npm pnpm yarn cnpm",
    "ls list ll la view info show outdated why explain fund root prefix bin search ping whoami query licenses doctor help",
    "npm exec cowsay",
    "npm ls",
    {
      rows: [{
        options: words(`--script-shell --userconfig --globalconfig --prefix --node-options --shell --viewer
          --editor --git --onload-script --init-module -C --dir --cwd --use-yarnrc`),
        why: RUNS,
        refused: "npm ls --script-shell=./x",
        allowed: "npm ls --all",
      }],
    },
  ),
  {
    names: words(`npx pnpx bunx pipx uvx dlx corepack volta nvm fnm asdf mise rtx rbenv pyenv conda mamba
      micromamba bundle bundler rake thor tox nox pre-commit lerna nx turbo gulp grunt invoke
      fab ansible ansible-playbook vagrant packer terraform tofu pulumi helm kubectl skaffold
      aws gcloud az`),
    rows: [{ operandsFrom: 0, why: RUNS, refused: "npx cowsay", allowed: "npx --version" }, {
      options: ["-c", "--call", "-p", "--package"],
      why: RUNS,
      refused: "npx -c 'touch a'",
      allowed: "npx --help",
    }],
  },
  tool(
    "pip uv poetry pdm hatch pipenv easy_install",
    "list freeze show check inspect index help tree version",
    "pip install x",
    "pip list",
    {
      rows: [{
        options: ["--python", "--log", "--config-settings", "--config-file", "--directory", "-C", "-p"],
        why: WRITES,
        refused: "pip list --log out",
        allowed: "pip list --outdated",
      }],
    },
  ),
  tool(
    "gem composer cpan cpanm luarocks brew port apt apt-get dnf yum pacman apk zypper snap flatpak choco winget scoop",
    "list search info show outdated env help",
    "gem install x",
    "gem list",
    {
      rows: [{
        options: ["-o", "--option", "-c", "--config-file", "--config", "-e", "-d", "--working-dir", "--root"],
        why: RUNS,
        refused: "apt-get show -o x=y a",
        allowed: "gem list -l",
      }],
    },
  ),
  tool(
    "cargo",
    "build b check c test t bench doc d clippy fmt tree metadata search clean fetch update verify-project pkgid locate-project read-manifest version help",
    "cargo run",
    "cargo test",
    {
      rows: [
        {
          options: words(
            `--config -Z -C --manifest-path --out-dir --artifact-dir --target-dir --open --timings`,
          ),
          why: RUNS,
          refused: "cargo test --config x=y",
          allowed: "cargo test --all",
        },
        {
          operands: /^\+/,
          why: "chooses another toolchain",
          refused: "cargo test +x",
          allowed: "cargo test x",
        },
      ],
    },
  ),
  {
    names: words(`rustc rustup rustdoc gcc g++ cc c++ clang clang++ cpp tcc ld gold lld as javac kotlinc tsc
      esbuild swc rollup webpack vite parcel babel sass protoc buf pandoc latex pdflatex xelatex
      lualatex tex ffmpeg convert magick gs dot cmake ctest meson ninja scons bazel buck gradle
      gradlew mvn mvnw ant sbt lein mix rebar dune opam cabal stack zig nim crystal dart flutter
      swiftc xcodebuild msbuild dotnet nuget swift-package java jar javaw kotlin`),
    rows: [
      {
        operandsFrom: 0,
        why: "writes files or starts programs, so that its arguments have to be spelled out",
        refused: "gcc a.c",
        allowed: "gcc --version",
      },
      {
        options: words(
          `-o -D -P -E -B -C --build --exec -p -f -F -e -S -s --plugin -wrapper -specs -cp -jar -x -X
          --output`,
        ),
        why: "writes files or starts programs, so that its arguments have to be spelled out",
        refused: "cmake -P",
        allowed: "cmake --version",
      },
    ],
  },
  {
    names: ["make", "gmake", "just", "task", "bmake", "nmake", "mk"],
    values: "",
    rows: [
      {
        options: words(
          `-f --file --makefile -E --eval -I --include-dir --justfile --shell --shell-arg --chooser
          --command -c --set --taskfile -t --working-directory -d --dir`,
        ),
        why: "takes its rules from elsewhere",
        refused: "make -kf - all",
        allowed: "make -k all",
      },
      {
        options: ["-C", "--directory"],
        why: "takes its rules from another directory",
        refused: "make -C x",
        allowed: "make -j4",
      },
      {
        operands: /=/,
        why: "sets a variable of the makefile, such as SHELL",
        refused: "make SHELL=./x all",
        allowed: "make all",
      },
      {
        options: ["-o", "--old-file", "-W", "--what-if", "-O", "--output-sync"],
        why: "changes which rules run",
        refused: "make -W a.c all",
        allowed: "make -n all",
      },
    ],
  },
  tool("go", "build test vet list doc version env fmt help", "go run ./x", "go version", {
    style: "whole",
    rows: [...goRows, {
      options: ["-u"],
      under: ["env"],
      why: "changes go's configuration",
      refused: "go env -u X",
      allowed: "go env GOPATH",
    }],
  }),
  {
    names: ["gofmt", "goimports", "rustfmt"],
    rows: [{
      options: ["-r", "-cpuprofile", "--config", "--config-path"],
      why: "rewrites code by a rule or writes a profile",
      refused: "gofmt -cpuprofile x a.go",
      allowed: "gofmt -l a.go",
    }],
  },
  tool(
    "docker podman nerdctl buildah",
    "ps images version info inspect logs port top stats history search events diff",
    "docker run x",
    "docker ps",
    {
      flags: "",
      rows: [{
        options: words(`-H --host --config -c --context --tlscacert --url --connection --runtime --conmon`),
        why: RUNS,
        refused: "docker ps --host x",
        allowed: "docker ps -a",
      }],
    },
  ),
  {
    names: ["pytest", "py.test", "coverage", "nosetests"],
    values: "kmn",
    rows: [
      {
        options: words(`-p -c --config-file --rcfile -o --override-ini --rootdir --confcutdir --pdb --pdbcls
          --trace --debug --basetemp --junit-xml --junitxml --log-file --pastebin -W --import-mode
          --pyargs --cov-config --cov-report`),
        why: "loads code or writes a file of the caller's choice",
        refused: "pytest -p x",
        allowed: "pytest -k x",
      },
      {
        operands: /^(run|erase|combine|html|xml|json|lcov|annotate)$/,
        why: RUNS,
        refused: "coverage run x",
        allowed: "coverage report",
      },
    ],
  },
  {
    names: words(`eslint prettier stylelint biome ruff black isort flake8 pylint mypy pyright jest vitest
      mocha ava tap rubocop golangci-lint shellcheck hadolint yamllint markdownlint`),
    rows: [
      {
        options: words(
          `-c --config --config-path --config-file --configfile --append-config --settings-path
          --settings-file --sp --pylintrc --rcfile --init-hook --enable-extensions --custom-typeshed-dir --package-root
          --package --opts --rootDir --root-dir --root --dir --projects --preset --resolver --environment
          --testEnvironment --test-environment --env --testSequencer --test-sequencer --watchPlugins --watch-plugins
          --reporters --snapshotSerializers --snapshot-serializers --global-setup --setup-files
          --setup-files-after-env --test-runner --moduleLoader --modulePaths --module-paths --node-options --load-plugins --plugin --parser --rulesdir
          --resolve-plugins-relative-to --rule-dir --require -r --import --loader --globalSetup
          --setupFiles --setupFilesAfterEnv --transform --runner --testRunner --reporter -R
          --formatter -f --format --node-option --ui --spec --file --python-executable --shadow-file
          --script`,
        ),
        why: "loads code or configuration of the caller's choice",
        refused: "eslint --rulesdir x a.js",
        allowed: "eslint a.js",
      },
      {
        options: words(
          `-o --output-file --output --outputFile --coverageDirectory --coverage-directory --cacheDirectory --cache-directory
          --cache-location --cache-dir --cache-file --junit-xml --html-report --xml-report
          --any-exprs-report --install-types`,
        ),
        why: WRITES,
        refused: "ruff check --output-file x",
        allowed: "ruff check",
      },
    ],
  },
];
