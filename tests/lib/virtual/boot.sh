#!/bin/sh
# boot.sh NAME UID GID HOME SHARE...: the first program of a virtual host, in namespaces of its own, among which the network is still empty.
# It makes the host its own, says "booted", reads from standard input the commands by which ip sets the interfaces up, and becomes
# sshd, which is process 1 and reaps orphans. A UID other than 0 belongs to a bed of an ordinary user.
set -eu
name=$1 uid=$2 gid=$3 home=$4
shift 4
bed=/run/bed own=/run/bed/$name
mkdir -p "$own/cgroup" "$own/tmp" "$own/home-ssh"

hostname "$name"
echo "$name" >"$own/hostname"
read -r id </proc/sys/kernel/random/uuid
echo "$id" >"$own/boot_id"
echo "$id" | tr -d - >"$own/machine-id"
mount --bind "$own/boot_id" /proc/sys/kernel/random/boot_id
for file in hostname machine-id; do
    if [ -e "/etc/$file" ]; then mount --bind "$own/$file" "/etc/$file"; fi
done
mount --bind "$bed/etc-hosts" /etc/hosts
mount --bind "$bed/ssh" /etc/ssh
# The user's own keys and settings have no say in here: bash reads .bashrc when sshd starts it.
if [ -d "$home/.ssh" ]; then mount --bind "$own/home-ssh" "$home/.ssh"; fi
if [ -e "$home/.bashrc" ]; then mount --bind /dev/null "$home/.bashrc"; fi

# A sysfs of this network namespace shows its interfaces; the control groups stay as they are.
if [ -d /sys/fs/cgroup ]; then mount --rbind /sys/fs/cgroup "$own/cgroup"; fi
mount -t sysfs sysfs /sys
if [ -d /sys/fs/cgroup ]; then mount --move "$own/cgroup" /sys/fs/cgroup; fi

mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs "$own/tmp"
for share; do
    inside=$own/tmp/${share#/tmp/}
    mkdir -p "$inside"
    mount --bind "$share" "$inside"
done
mount --move "$own/tmp" /tmp
# From here on the bed's own files are out of sight.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd /run/lock

# A namespace may choose only among what the machine allows; the pacing of bbr, some machines' default, is not what clusters have.
for control in cubic reno; do
    if echo $control 2>/dev/null >/proc/sys/net/ipv4/tcp_congestion_control; then break; fi
done
for scope in all default; do
    if [ -d "/proc/sys/net/ipv6/conf/$scope" ]; then echo 0 >"/proc/sys/net/ipv6/conf/$scope/accept_dad"; fi
done
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start

echo booted
ip -batch -
exec </dev/null >&2
if [ "$uid" = 0 ]; then exec /usr/sbin/sshd -D -e; fi
exec unshare --user --map-user="$uid" --map-group="$gid" /usr/sbin/sshd -D -e
