# layer.sh FOLDER STEPS: runs the script STEPS in a layer over this machine's root, with FOLDER as its /layer. What it changes goes
# into a tmpfs. It runs as the first process of mount and PID namespaces of its own, so that nothing outlives it.
folder=$1 steps=$2
mount --make-rprivate /
cp "$steps" "$folder/steps"
mkdir "$folder/space"
mount -t tmpfs -o size=3g layer "$folder/space"
mkdir "$folder/space/upper" "$folder/space/work" "$folder/space/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/space/upper,workdir=$folder/space/work" "$folder/space/root"
root=$folder/space/root
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mkdir -p "$root/layer"
mount --bind "$folder" "$root/layer"
exec chroot "$root" /bin/sh -eu /layer/steps
