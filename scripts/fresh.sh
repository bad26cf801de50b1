#!/bin/sh
# fresh.sh [TARGET...]: a clean clone of HEAD in a new Debian root that holds gcc, make and Rust and nothing else, and there
# `make demo` and `make check`, or the targets that are named. It shows what a new user's machine lacks and ours happen to have.
#
# It has to be root on a Debian system, with the right to mount (in a container: CAP_SYS_ADMIN) and with 20 GB of disk. The root
# has mount, PID and IPC namespaces of its own, so that nothing it starts or mounts outlives it, and the machine's network. How the
# network's registries are reached is taken from the machine when it runs: apt's sources and its settings of transport, the
# variables of proxies, cargo and pip, and the files that these name. Rust is the machine's toolchain, read-only.
set -eu
cd "$(dirname -- "$0")/.."
work=$PWD/build/fresh
root=$work/root
[ $# != 0 ] || set -- demo check

fail() { echo "fresh: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail "it makes a root and mounts in it: run it as root"
command -v apt-get >/dev/null || fail "it needs a Debian system, whose packages the new root is made of"
unshare --mount --pid --ipc --fork true 2>/dev/null || fail "namespaces are not permitted here (a container needs CAP_SYS_ADMIN)"
[ -z "$(git status --porcelain)" ] || echo "fresh: what is not committed is left out" >&2
scripts/setup.sh fresh
authorities=/etc/ssl/certs/ca-certificates.crt
toolchain=$(rustc --print sysroot)

session=''
clean_up() {
    trap '' INT TERM
    if [ -n "$session" ]; then
        kill "$session" 2>/dev/null || true
        wait "$session" || true
    fi
    # The mounts were the namespace's alone and have ended with it.
    # A process that was just killed may still be making a file.
    for _ in 1 2 3 4 5; do
        if rm -rf --one-file-system "$root"; then return; fi
        sleep 1
    done
}

# carry FILE: the file into the root, at the same path.
carry() {
    mkdir -p "$root$(dirname -- "$1")"
    cp -L -- "$1" "$root$1"
}

# The variables that tell clients of registries and of the network how to go about it.
client_variables() { env | grep -iE '^(https?_proxy|ftp_proxy|no_proxy|all_proxy|PIP_[A-Z_]*|CARGO_(HTTP|NET|REGISTRIES|SOURCE)_[A-Z_]*|SSL_CERT_FILE|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE)=' || true; }

make_root() {
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" 'Created-By: Packages' | head -n 1)
    [ -n "$mirror" ] || fail "apt names no source of $suite"
    mkdir -p "$work/packages"
    echo "fresh: a new root of $suite (a minute)"
    debootstrap --variant=minbase --include=gcc,libc6-dev,make --cache-dir="$work/packages" "$suite" "$root" "$mirror" \
        >"$work/debootstrap.log" 2>&1 || { tail -n 5 "$work/debootstrap.log"; fail "debootstrap failed: $work/debootstrap.log"; }
}

carry_settings() {
    rm -rf "$root/etc/apt/sources.list"
    cp -rL /etc/apt/sources.list.d /etc/apt/keyrings "$root/etc/apt/" 2>/dev/null || true
    find "$root/etc/apt/sources.list.d" -type f ! -name '*.list' ! -name '*.sources' -delete
    if [ -f /etc/apt/sources.list ]; then carry /etc/apt/sources.list; fi
    apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/00machine" || true
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
        if [ -f "$file" ]; then carry "$file"; fi
    done
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
    for file in config config.toml; do
        if [ -f "$cargo_home/$file" ]; then mkdir -p "$root/root/.cargo" && cp -L "$cargo_home/$file" "$root/root/.cargo/"; fi
    done
    if [ -f "$HOME/.config/pip/pip.conf" ]; then mkdir -p "$root/root/.config/pip" && cp -L "$HOME/.config/pip/pip.conf" "$root/root/.config/pip/"; fi
    # The authorities that the machine trusts, in a file of their own: installing Debian's writes theirs anew.
    if [ -f "$authorities" ]; then
        mkdir -p "$root/opt"
        cp -L "$authorities" "$root/opt/authorities.crt"
    fi
    client_variables | sed "s/'/'\\\\''/g; s/^\([^=]*\)=\(.*\)/export \1='\2'/" >"$root/root/variables"
    for name in SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE PIP_CERT CARGO_HTTP_CAINFO; do
        if [ -f "$authorities" ]; then echo "export $name=/opt/authorities.crt" >>"$root/root/variables"; fi
    done
    client_variables | sed 's/^[^=]*=//' | while IFS= read -r value; do
        case $value in /*) if [ -f "$value" ]; then carry "$value"; fi ;; esac
    done
}

# What runs as the first process of the namespaces.
write_session() {
    cat >"$work/session" <<'END'
set -eu
root=$1 toolchain=$2
shift 2
mount --make-rprivate /
# A mount of its own, so that it can be the root of the namespace: in a mere chroot the kernel makes no namespaces.
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=755 dev "$root/dev"
for node in null zero full random urandom tty; do touch "$root/dev/$node" && mount --bind "/dev/$node" "$root/dev/$node"; done
if [ -c /dev/net/tun ]; then mkdir "$root/dev/net" && touch "$root/dev/net/tun" && mount --bind /dev/net/tun "$root/dev/net/tun"; fi
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mkdir -p "$root/opt/rust"
mount --bind "$toolchain" "$root/opt/rust"
mount -o remount,ro,bind "$root/opt/rust"
mkdir -p "$root/machine"
cd "$root"
pivot_root . machine
cd /
umount --lazy /machine
rmdir /machine
env -i HOME=/root LANG=C.UTF-8 PATH=/opt/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    sh -c '. /root/variables; cd /weft; code=0; for target; do make "$target" || code=$?; done; exit $code' sh "$@" &
wait $!
END
}

if [ -e "$root" ]; then fail "$root is there: another run's; remove it when that has ended"; fi
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
make_root
carry_settings
git clone --quiet --no-hardlinks . "$root/weft"
write_session
begin=$(date +%s)
unshare --mount --pid --ipc --fork --kill-child sh "$work/session" "$root" "$toolchain" "$@" </dev/null &
session=$!
code=0
wait "$session" || code=$?
session=''
seconds=$(($(date +%s) - begin))
[ "$code" = 0 ] && word=well || word="with exit code $code"
echo "fresh: make $* in a new Debian root ended $word after $((seconds / 60)) min $((seconds % 60)) s"
exit "$code"
