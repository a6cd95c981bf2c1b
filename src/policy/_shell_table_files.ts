/**
 * Rows of the command table: programs that look at files and text, and those that change files.
 *
 * @module
 */
import { type ProgramEntry, words } from "./_shell_table.ts";

const RUNS = "starts a program of the caller's choice";
const WRITES = "writes a file of the caller's choice";

/** Searching, reading and transforming. */
export const FILE_PROGRAMS: readonly ProgramEntry[] = [
  {
    names: ["find", "gfind", "bfs"],
    style: "whole",
    rows: [
      {
        options: ["-exec", "-execdir", "-ok", "-okdir"],
        why: RUNS,
        refused: "find . -name a -exec touch {} +",
        allowed: "find . -name a",
      },
      { options: ["-delete"], why: "deletes files", refused: "find . -delete", allowed: "find . -depth" },
      {
        options: ["-fprint", "-fprint0", "-fprintf", "-fls"],
        why: WRITES,
        refused: "find . -fprintf out %p",
        allowed: "find . -printf %p",
      },
      {
        options: ["-files0-from"],
        why: "takes its starting points from a file",
        refused: "find -files0-from list",
        allowed: "find . -type f",
      },
    ],
  },
  {
    names: ["fd", "fdfind"],
    values: "edEtScj",
    rows: [{
      options: ["-x", "-X", "--exec", "--exec-batch"],
      why: RUNS,
      refused: "fd -x touch",
      allowed: "fd -e ts",
    }],
  },
  {
    names: ["rg", "ripgrep"],
    values: "ABCefgjmMtTE",
    exact: ["--pretty"],
    rows: [
      {
        options: ["--pre", "--hostname-bin"],
        why: RUNS,
        refused: "rg --pre ./x a",
        allowed: "rg --no-heading a",
      },
      {
        options: ["-z", "--search-zip"],
        why: "starts decompression programs",
        refused: "rg -nz a",
        allowed: "rg -n a",
      },
    ],
  },
  {
    names: ["ag", "ack"],
    rows: [
      { options: ["--pager"], why: RUNS, refused: "ack --pager=./x a", allowed: "ack a" },
      {
        options: ["--ackrc"],
        why: "reads options from a file",
        refused: "ack --ackrc=x a",
        allowed: "ack -i a",
      },
    ],
  },
  {
    names: ["sed", "gsed", "ssed"],
    values: "lef",
    exact: ["--silent"],
    rows: [
      {
        options: ["-i", "-I", "--in-place"],
        why: "changes files in place",
        refused: "sed -ni.bak p a.txt",
        allowed: "sed -n p a.txt",
      },
      {
        options: ["-f", "--file"],
        why: "takes its script from a file",
        refused: "sed -f x a.txt",
        allowed: "sed -e p a.txt",
      },
      {
        script: "sed",
        why: "has a command that starts a program or writes a file",
        refused: "sed 's/a/b/e' a.txt",
        allowed: "sed 's/a/e/' a.txt",
      },
    ],
  },
  {
    names: ["awk", "gawk", "mawk", "nawk", "original-awk"],
    values: "Fv",
    rows: [
      {
        options: ["-f", "--file", "-E", "--exec", "-i", "--include", "-l", "--load", "-e", "--source"],
        why: "takes its program from elsewhere",
        refused: "awk -f x a.txt",
        allowed: "awk -F: '{ print $1 }' a.txt",
      },
      {
        options: ["-o", "--pretty-print", "-d", "--dump-variables", "-p", "--profile", "-D", "--debug", "-W"],
        why: WRITES,
        refused: "awk -oout '{ print }' a.txt",
        allowed: "awk '{ print }' a.txt",
      },
      {
        script: "awk",
        why: "has a statement that starts a program, reads or writes another file",
        refused: "awk '{ print > \"out\" }' a.txt",
        allowed: "awk '$3 > 5 { print $1 }' a.txt",
      },
    ],
  },
  {
    names: ["sort", "gsort"],
    values: "ktS",
    rows: [
      {
        options: ["-o", "--output"],
        why: WRITES,
        refused: "sort -no out a.txt",
        allowed: "sort -n a.txt",
      },
      {
        options: ["--compress-program"],
        why: RUNS,
        refused: "sort --comp ./x a.txt",
        allowed: "sort --check a.txt",
      },
      {
        options: ["-T", "--temporary-directory"],
        why: "writes to a directory of the caller's choice",
        refused: "sort -T /etc a.txt",
        allowed: "sort -u a.txt",
      },
      {
        options: ["--files0-from"],
        why: "takes the names of its files from a file",
        refused: "sort --files0-from=x",
        allowed: "sort a.txt",
      },
    ],
  },
  {
    names: ["uniq"],
    values: "fsw",
    rows: [{
      operandsFrom: 1,
      why: "writes its second operand",
      refused: "uniq a.txt out",
      allowed: "uniq -c a.txt",
    }],
  },
  {
    names: ["tar", "gtar", "bsdtar"],
    values: "fCbX",
    exact: ["--list"],
    rows: [
      {
        options: words(`-I --use-compress-program --to-command --checkpoint-action --info-script
          --new-volume-script -F --rmt-command --rsh-command`),
        why: RUNS,
        refused: "tar --checkpoint-act=exec=x -tf a.tar",
        allowed: "tar -tf a.tar",
      },
      {
        options: words(`-x --extract --get -c --create -r --append -u --update -A --catenate --concatenate
          --delete --remove-files --index-file -P --absolute-names`),
        why: "writes files that an archive names",
        refused: "tar -xvf a.tar",
        allowed: "tar -tvf a.tar",
      },
      {
        options: ["-T", "--files-from", "-g", "--listed-incremental"],
        why: "takes options from a file or writes one",
        refused: "tar -tf a.tar -T x",
        allowed: "tar -tf a.tar",
      },
      {
        script: "tar",
        why: "writes files or starts a program",
        refused: "tar xf a.tar",
        allowed: "tar tf a.tar",
      },
      {
        script: "tar",
        why: "writes files or starts a program",
        refused: "tar -tf host:a.tar",
        allowed: "tar -tf b.tar",
      },
    ],
  },
  {
    names: ["zip"],
    rows: [
      {
        options: ["-T", "--test", "-TT", "--unzip-command"],
        why: RUNS,
        refused: "zip -TT x a.zip",
        allowed: "zip --help",
      },
      { operandsFrom: 0, why: "writes an archive", refused: "zip a.zip a.txt", allowed: "zip -v" },
    ],
  },
  {
    names: ["unzip", "7z", "7za", "7zz", "cpio", "unar", "unrar", "ar", "pax"],
    rows: [{
      operandsFrom: 0,
      why: "writes files that an archive names",
      refused: "unzip a.zip",
      allowed: "unzip -v",
    }],
  },
  {
    names: words(`gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress brotli`),
    writes: { operands: "all" },
    rows: [
      { options: ["-o", "--output"], why: WRITES, refused: "zstd a.txt -o out", allowed: "zstd -l a.zst" },
      {
        options: ["-S", "--suffix", "--output-dir-flat", "--output-dir-mirror"],
        why: "chooses names of files that it writes",
        refused: "gzip -S .git a.txt",
        allowed: "gzip -k a.txt",
      },
    ],
  },
  {
    names: ["split", "csplit"],
    values: "bCln",
    rows: [
      { options: ["--filter"], why: RUNS, refused: "split --filter='./x' a.txt", allowed: "split --version" },
      {
        operandsFrom: 0,
        why: "writes files named by a prefix",
        refused: "split a.txt pre",
        allowed: "split --help",
      },
    ],
  },
  {
    names: ["xxd"],
    values: "clgso",
    rows: [
      {
        options: ["-r", "-revert"],
        why: "writes binary files",
        refused: "xxd -r a.txt out",
        allowed: "xxd a.txt",
      },
      {
        operandsFrom: 1,
        why: "may write its second operand",
        refused: "xxd a.txt out",
        allowed: "xxd -p a.txt",
      },
    ],
  },
  {
    names: ["tree"],
    values: "LPI",
    rows: [
      { options: ["-o", "--output"], why: WRITES, refused: "tree -o out", allowed: "tree -L 2" },
      {
        options: ["-R"],
        why: "may write a file in each directory",
        refused: "tree -RH . -L 1",
        allowed: "tree -a",
      },
    ],
  },
  {
    names: ["less", "more", "most", "pg"],
    values: "bhjxyzP",
    rows: [
      {
        options: ["-o", "-O", "--log-file", "--LOG-FILE"],
        why: WRITES,
        refused: "less -oout a.txt",
        allowed: "less -N a.txt",
      },
      {
        options: ["+"],
        why: "runs a command of the pager",
        refused: "less '+!x' a.txt",
        allowed: "less a.txt",
      },
      {
        options: words("-k -T -t --lesskey-file --lesskey-src --lesskey-content --tag-file --tag"),
        why: "reads commands from a file",
        refused: "less -kx a.txt",
        allowed: "less -S a.txt",
      },
    ],
  },
  {
    names: ["man", "apropos", "whatis"],
    values: "LmMSse",
    exact: ["--html"],
    rows: [{
      options: words(`-P --pager -H --html -C --config-file -T --troff-device -p --preprocessor -X -Z -M
        --manpath -l --local-file`),
      why: RUNS,
      refused: "man -P ./x ls",
      allowed: "man ls",
    }],
  },
  {
    names: ["bat", "batcat"],
    values: "lrH",
    exact: ["--paging"],
    rows: [
      { options: ["--pager"], why: RUNS, refused: "bat --pager=./x a.txt", allowed: "bat -p a.txt" },
      {
        operands: /^cache$/,
        why: "writes its cache",
        refused: "bat cache --build",
        allowed: "bat a.txt",
      },
    ],
  },
  {
    names: ["diff", "gdiff", "sdiff", "diff3"],
    rows: [
      {
        options: ["-o", "--output", "--diff-program", "-l", "--paginate"],
        why: "writes a file or starts a program",
        refused: "sdiff -o out a.txt b.txt",
        allowed: "diff -u a.txt b.txt",
      },
    ],
  },
  {
    names: ["patch"],
    values: "pFd",
    rows: [{
      options: words(`-e --ed -o --output -r --reject-file -B --prefix -Y --basename-prefix -z --suffix -d
        --directory`),
      why: "writes files of the caller's choice or starts `ed`",
      refused: "patch -e a.txt a.diff",
      allowed: "patch -p1 --dry-run",
    }],
  },
  {
    names: ["file"],
    values: "FPe",
    rows: [{
      options: ["-C", "--compile", "-z", "-Z", "--uncompress", "-m", "--magic-file"],
      why: "writes a file or starts a program",
      refused: "file -C -m x",
      allowed: "file -b a.txt",
    }],
  },
  {
    names: ["jq", "yq", "gojq", "dasel"],
    rows: [{
      options: ["-i", "--inplace", "--in-place", "-s", "--split-exp"],
      why: "changes files",
      refused: "yq -i .a a.yaml",
      allowed: "jq .a a.json",
    }],
  },
  {
    names: ["shuf"],
    values: "ni",
    rows: [{
      options: ["-o", "--output"],
      why: WRITES,
      refused: "shuf -o out a.txt",
      allowed: "shuf -n1 a.txt",
    }],
  },
  { names: ["tee"], writes: { operands: "all" }, rows: [] },
  { names: ["touch"], values: "dtr", writes: { operands: "all" }, rows: [] },
  { names: ["mkdir", "rmdir", "mkfifo"], values: "m", writes: { operands: "all" }, rows: [] },
  { names: ["rm", "unlink", "shred"], writes: { operands: "all" }, rows: [] },
  { names: ["truncate"], writes: { operands: "all" }, rows: [] },
  { names: ["chmod", "chown", "chgrp", "chattr", "setfacl"], writes: { operands: "all" }, rows: [] },
  { names: ["mv"], values: "S", writes: { operands: "all", named: ["-t", "--target-directory"] }, rows: [] },
  {
    names: ["cp", "gcp"],
    values: "S",
    writes: { operands: "last", named: ["-t", "--target-directory"] },
    rows: [],
  },
  {
    names: ["ln"],
    values: "S",
    writes: { operands: "all", named: ["-t", "--target-directory"] },
    rows: [],
  },
  {
    names: ["install", "ginstall"],
    values: "mogS",
    writes: { operands: "all", named: ["-t", "--target-directory"] },
    rows: [{
      options: ["--strip-program", "-s", "--strip"],
      why: RUNS,
      refused: "install --strip-program=./x a b",
      allowed: "install a b",
    }],
  },
  {
    names: ["dd"],
    writes: { operands: "none", named: ["of="] },
    rows: [{
      operands: /^of=\/dev\//,
      why: "could name its output",
      refused: "dd *",
      allowed: "dd if=a of=b",
    }],
  },
  {
    names: words(
      "xmllint xsltproc iconv tidy pdftotext pdftoppm pdftohtml exiftool cloc mlr ctags etags objcopy strip",
    ),
    rows: [
      {
        others: words(
          "--version --help -V -h --noout --format --xpath --html -f -t --from-code --to-code --json -i --icsv --ojson --opprint -x --line-numbers",
        ),
        why: "may write a file or start a program",
        refused: "iconv -o out a.txt",
        allowed: "xmllint --noout a.xml",
      },
      {
        operandsFrom: 1,
        why: "may be a file to write",
        refused: "pdftotext a.pdf out.txt",
        allowed: "pdftotext a.pdf",
      },
    ],
  },
];
