# layer.sh FOLDER COMMAND...: runs a command in a layer over this machine's root, with FOLDER as its /layer. What it changes goes into
# FOLDER/space, where that is there, to stay; and else into a tmpfs. FOLDER and the working directory are as outside. The command is
# the first process of mount and PID namespaces of its own (unshare --mount --pid --fork --kill-child), so that nothing outlives it.
folder=$1
shift
mount --make-rprivate /
if [ ! -d "$folder/space" ]; then
    mkdir "$folder/space"
    mount -t tmpfs -o size=3g layer "$folder/space"
fi
mkdir -p "$folder/space/upper" "$folder/space/work" "$folder/space/root"
root=$folder/space/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/space/upper,workdir=$folder/space/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
for place in "$PWD:$PWD" "$folder:/layer"; do
    mkdir -p "$root${place#*:}"
    mount --bind "${place%%:*}" "$root${place#*:}"
done
exec chroot "$root" sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
