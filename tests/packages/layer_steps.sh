# What is done in the layer (layer.sh). Every line has to end well.
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin XDG_CACHE_HOME=/tmp/cache
multiarch=x86_64-linux-gnu
home=/usr/lib/$multiarch/weft
cd /tmp
set -x

is() { [ "$(readlink "/etc/alternatives/$1")" = "$2" ]; }

# Every file that packages may have.
listing() { find /etc /usr /var -xdev | sort; }

others="mpich libmpich-dev openmpi-bin libopenmpi-dev gcc libc6-dev gfortran pkg-config"
apt-get install -qq -y --no-install-recommends $others >/tmp/apt.log 2>&1 ||
    { apt-get update -qq && apt-get install -qq -y --no-install-recommends $others; } >/tmp/apt.log 2>&1 ||
    { tail -n 20 /tmp/apt.log; exit 1; }
is mpi /usr/bin/mpicc.openmpi
listing >/tmp/before

dpkg -i /layer/weftmpi_*.deb /layer/weftmpi-dbgsym_*.deb
# Nobody's choice has changed.
is mpi /usr/bin/mpicc.openmpi
is mpirun /usr/bin/mpirun.openmpi

# Its own names.
mpicc.weft /layer/ring.c -o ring
mpiexec.weft -n 2 ./ring
mpirun.weft -n 2 ./ring
mpifort.weft /layer/ring.f -o ring_f
mpiexec.weft -n 2 ./ring_f
weft info
readelf -d ring | grep "$home/lib"

# The names that all share, once it is chosen.
update-alternatives --set mpi /usr/bin/mpicc.weft
update-alternatives --set mpirun /usr/bin/mpirun.weft
update-alternatives --set mpi-$multiarch $home/include
[ "$(readlink -f /usr/bin/mpicc)" = "$home/bin/mpicc" ]
for wrapper in mpicc mpicxx mpic++ mpiCC mpifort mpif77 mpif90; do
    $wrapper -showme:version | grep WeftMPI
done
mpicc /layer/ring.c -o ring
mpiexec -n 2 ./ring
mpirun -n 2 ./ring
gcc /layer/ring.c -o by_pkg_config $(pkg-config --cflags --libs mpi)
mpiexec -n 2 ./by_pkg_config
[ "$(dpkg -S $home/lib/.debug 2>/dev/null)" = '' ]
[ -f /usr/lib/debug$home/lib/libmpi_abi.so.1.debug ]

# Another one, and back to what has the highest priority.
update-alternatives --set mpi /usr/bin/mpicc.mpich
mpicc -show | grep mpich
dpkg --purge weftmpi weftmpi-dbgsym
update-alternatives --auto mpi
is mpi /usr/bin/mpicc.openmpi
is mpirun /usr/bin/mpirun.openmpi
listing >/tmp/after
# dpkg and update-alternatives keep their old state and logs.
diff /tmp/before /tmp/after | grep '^[<>]' | grep -vE ' /var/(lib/dpkg|log)/' && exit 1
echo ok layer
