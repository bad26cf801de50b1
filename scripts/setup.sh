#!/bin/sh
# setup.sh TARGET         installs what scripts/commands.txt declares for that target and this machine lacks. As root it runs
#                         apt-get; otherwise it says what to run. It does nothing, quickly, when nothing is missing.
# setup.sh --path TARGET  prints a PATH that leads to what is declared for that target and to what every Debian system has,
#                         so that a command which no row declares is found on no machine.
set -eu
cd "$(dirname -- "$0")/.."
table=scripts/commands.txt
# They are not on everybody's PATH.
system=:/usr/sbin:/sbin
PATH=$PATH$system

fail() { echo "setup: $*" >&2; exit 1; }

# declared: lines "WHAT PACKAGE" of the target's rows.
declared() {
    awk -v target="$target" '
        /^#/ { next }
        { for (i = 3; i <= NF; i++) if ($i == target || $i == "all") { print $1, $2; break } }' "$table"
}

is_there() {
    case $1 in
    python:*) python3 -c "import ${1#python:}" >/dev/null 2>&1 ;;
    /*)
        # The words are a pattern; one that matches nothing stays as it is.
        set -- $1
        [ -e "$1" ]
        ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

# The packages of the rows that this machine does not fulfil, each once.
missing_packages() {
    declared | while read -r what package; do
        if ! is_there "$what"; then echo "$package"; fi
    done | sort -u
}

install_missing() {
    missing=$(missing_packages | tr '\n' ' ')
    missing=${missing% }
    case " $missing " in *" - "*) fail "Rust is missing, or a part of it: install Rust 1.95 or later, with rustfmt and clippy, from https://rustup.rs" ;; esac
    [ -n "$missing" ] || return 0
    install="apt-get install -y --no-install-recommends $missing"
    if ! command -v apt-get >/dev/null 2>&1; then
        fail "please install, by this system's package manager: $missing"
    elif [ "$(id -u)" != 0 ]; then
        fail "missing: $missing; please run: sudo $install"
    fi
    echo "setup: installing $missing"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    # Somebody else, a daily upgrade for one, may be installing.
    patient="apt-get -o DPkg::Lock::Timeout=300 ${install#apt-get }"
    # A fresh image has no package lists: fetch them only when the install fails without.
    if ! $patient >"$log" 2>&1 </dev/null && ! { apt-get update && $patient; } >"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        fail "apt-get failed; is the network there? Then run: apt-get update && $install"
    fi
    still=$(missing_packages | tr '\n' ' ')
    [ -z "$still" ] || fail "installed, but what $table names is still not there, of: $still"
}

# The commands of the packages that Debian calls essential.
essential_commands() {
    dpkg-query -W -f '${Essential} ${Package}\n' | awk '$1 == "yes" { print $2 }' | xargs dpkg -L |
        grep -E '^(/usr)?/s?bin/[^/]+$'
}

declared_commands() {
    declared | while read -r what _; do
        case $what in */* | *:*) ;; *) command -v "$what" || true ;; esac
    done | grep '^/'
}

declared_path() {
    if ! command -v dpkg-query >/dev/null 2>&1; then
        echo "setup: not a Debian system: undeclared commands are not kept out" >&2
        echo "$PATH"
        return
    fi
    # What runs inside such a run keeps the outer one's.
    case $PATH in "$PWD"/build/commands/*) echo "${PATH%$system}"; return ;; esac
    links=$PWD/build/commands/$target
    # Made again when the table, the packages or the search path have changed.
    key="$(cksum <"$table") $(stat -c %Y /var/lib/dpkg/status) $PATH"
    if [ "$(cat "$links/.made-from" 2>/dev/null)" != "$key" ]; then
        mkdir -p build/commands
        new=$(mktemp -d "$PWD/build/commands/new-XXXXXX")
        { essential_commands; declared_commands; } | xargs ln -sf -t "$new"
        # What a version manager puts into its place asks the PATH again, so python3 is the interpreter itself.
        if [ -e "$new/python3" ]; then ln -sf "$(python3 -c 'import sys; print(sys.executable)')" "$new/python3"; fi
        echo "$key" >"$new/.made-from"
        rm -rf "$links"
        # Where another run was faster, its folder is as good.
        mv -T "$new" "$links" 2>/dev/null || rm -rf "$new"
    fi
    echo "$links"
}

action=install
if [ "${1:-}" = --path ]; then action=path; shift; fi
target=${1:-}
case $target in
compat-programs | demo | check | bench | sanitize | valgrind | softrdma | slurm | mpi4py | programs | io-programs | mpich-tests | fuzz | kills | hosts | fresh | packages) ;;
*)
    echo "usage: setup.sh [--path] compat-programs|demo|check|bench|sanitize|valgrind|softrdma|slurm|mpi4py|programs|io-programs|mpich-tests|fuzz|kills|hosts|fresh|packages" >&2
    exit 2
    ;;
esac
if [ $action = path ]; then declared_path; else install_missing; fi
