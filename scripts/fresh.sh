#!/usr/bin/env bash
# Checks that the README's two commands work on a machine that only has Node: builds a bare root file system
# (debootstrap, minbase) on a separate disk image, clones the committed state of this checkout into it, and runs both
# there. Set CI=true to run what CI runs. Run it before every release. With --package, it installs a package there
# instead, in a root without Node (but for the npm package), and then runs `bax demo tour` without a network.
#
#   scripts/fresh.sh [--node PREFIX] [--only GLOB]...
#   scripts/fresh.sh --package FILE [--suite NAME]
#     --node PREFIX   folder of another Node installation, with bin/node and lib/node_modules/npm
#     --only GLOB     run these test files only, such as 'test/flow/sessions*'
#     --package FILE  a .deb, the single file, or the npm package (.tgz), of `npm run release:build`
#     --suite NAME    release of Debian, such as trixie; by default that of this machine
#
# The root has its own network (slirp4netns), process IDs and /dev, and its own dockerd, which the project's setup has to
# install and start there like on any new machine. Sharing the Docker socket of this machine would prove less: its
# images exist already, and it cannot resolve paths of the bare root. Only the kernel and its cgroups are shared.
# The root uses this machine's access to packages: apt's sources and transfer settings, npm's configuration,
# certificates and the proxy variables. No mount, process or disk space outlives this script: the mounts are in a
# separate namespace, and the disk image is unlinked. After SIGKILL, an empty folder in $TMPDIR and empty control
# groups are left.
# Needs root and about 10 GB below $TMPDIR.
set -euo pipefail

say() { printf 'fresh: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 2
}

[ "$(id -u)" = 0 ] || die 'run this as root'
if [ -z "${BAX_FRESH_NAMESPACE:-}" ]; then
  BAX_FRESH_NAMESPACE=1 exec unshare --mount --propagation private bash "$0" "$@"
fi

node_prefix=$(dirname "$(dirname "$(node -p process.execPath)")")
only=()
package=
suite=
while [ $# -gt 0 ]; do
  case $1 in
    --node) node_prefix=${2:?--node needs a folder} && shift 2 ;;
    --only) only+=("${2:?--only needs a glob}") && shift 2 ;;
    --package) package=${2:?--package needs a file} && shift 2 ;;
    --suite) suite=${2:?--suite needs a name} && shift 2 ;;
    *) die "unknown argument $1; see the head of $0" ;;
  esac
done
[ -x "$node_prefix/bin/node" ] && [ -d "$node_prefix/lib/node_modules/npm" ] ||
  die "$node_prefix does not contain bin/node and lib/node_modules/npm"
for tool in debootstrap slirp4netns git mkfs.ext4; do
  command -v "$tool" >/dev/null || die "$tool is missing: apt-get install debootstrap slirp4netns git e2fsprogs"
done

checkout=$(cd "$(dirname "$0")/.." && pwd)
[ -z "$(git -C "$checkout" status --porcelain)" ] || say 'uncommitted changes are not part of this run'

place=$(mktemp -d "${TMPDIR:-/tmp}/bax-fresh-XXXXXX")
root=$place/root
group=bax-fresh-$$
running=
cleanup() {
  if [ -n "$running" ]; then
    kill -KILL "$running" 2>/dev/null || true
    wait "$running" 2>/dev/null || true
    sleep 1
  fi
  umount --lazy "$root" "$place" 2>/dev/null || true
  rmdir "$place"
  # Killed containers leave their empty control groups behind.
  find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir {} + 2>/dev/null || true
}
trap cleanup EXIT
trap 'exit 143' TERM INT HUP

make_disk() {
  local image
  mount -t tmpfs tmpfs "$place"
  mkdir "$root"
  image=$(mktemp "${TMPDIR:-/tmp}/bax-fresh-disk-XXXXXX")
  truncate --size 40G "$image"
  mkfs.ext4 -q "$image"
  mount -o loop,noatime "$image" "$root"
  rm "$image"
}

make_root() {
  local own mirror
  # shellcheck source=/dev/null
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  suite=${suite:-$own}
  mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' | awk -v name="$own" '$2 == name { print $1; exit }')
  [ -n "$mirror" ] || die "apt has no source for $own"
  say "building a bare $suite"
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$place/debootstrap.log" 2>&1 || {
    tail -n 20 "$place/debootstrap.log" >&2
    die 'debootstrap failed'
  }
}

inherit_network_settings() {
  rm -f "$root/etc/apt/sources.list"
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/keyrings /etc/apt/trusted.gpg.d /etc/apt/auth.conf \
    /etc/apt/auth.conf.d /usr/share/keyrings /etc/ssl/certs/ca-certificates.crt /usr/local/share/ca-certificates; do
    [ ! -e "$file" ] || { mkdir -p "$root$(dirname "$file")" && cp -RL "$file" "$root$(dirname "$file")"; }
  done
  for file in "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*; do
    [ ! -f "$file" ] || sed -i "s/\b$(. /etc/os-release && echo "$VERSION_CODENAME")\b/$suite/g" "$file"
  done
  apt-config dump | grep -E '^Acquire::' >"$root/etc/apt/apt.conf.d/00machine" || true
  echo "{\"cgroup-parent\": \"/$group\"}" | install -D -m 644 /dev/stdin "$root/etc/docker/daemon.json"
  # slirp4netns forwards this address to the machine's resolver.
  echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"
  [ ! -e "$HOME/.npmrc" ] || cp "$HOME/.npmrc" "$root/root/.npmrc"
  file=$(npm config get globalconfig 2>/dev/null || true)
  [ ! -e "$file" ] || install -D -m 644 "$file" "$root/usr/local/etc/npmrc"
}

add_node() {
  mkdir -p "$root/usr/local/bin" "$root/usr/local/lib/node_modules"
  cp -L "$node_prefix/bin/node" "$root/usr/local/bin/node"
  cp -R "$node_prefix/lib/node_modules/npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
  chroot "$root" /usr/local/bin/node --version >"$place/node-version" 2>&1 ||
    die "this Node does not run in a bare root: $(head -n 1 "$place/node-version")"
}

mount_system() {
  mount --rbind /sys "$root/sys"
  mount --bind /dev "$root/dev"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
}

make_network() {
  touch "$place/net"
  unshare --net="$place/net" true
  # slirp4netns is ready when it has written to the file descriptor. It ends with this script in any case.
  mkfifo "$place/ready"
  setpriv --pdeathsig KILL -- slirp4netns --configure --mtu=65520 --ready-fd=3 --netns-type=path "$place/net" tap0 \
    3>"$place/ready" >"$place/slirp.log" 2>&1 &
  read -r -n 1 <"$place/ready" || die "no network: $(tail -n 1 "$place/slirp.log")"
}

inherited_variables() {
  env | grep -E '^([a-z]+_proxy|[A-Z]+_PROXY|npm_config_[^=]+|NPM_CONFIG_[^=]+|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|CI|BAX_TEST_HOMES)=' || true
}

# Runs in the bare root; $1 is the list of test files, which the shell there expands.
read -r -d '' proof <<'PROOF' || true
set -eu
cd /root/bax
step() { printf '\nfresh: [%s s] %s\n' "$SECONDS" "$*" >&2; }
step "bare root: node $(node --version), npm $(npm --version), $(dpkg-query -f '.\n' -W | wc -l) packages"
node -e '
  const page = "<!doctype html><title>Fresh</title><main><h1>Fresh machine</h1><p>This page was served to a new machine.</p></main>"
  const server = require("node:http").createServer((_, response) => response.setHeader("content-type", "text/html").end(page))
  server.listen(0, "127.0.0.1", () => console.log(server.address().port))
' >/tmp/port &
until [ -s /tmp/port ]; do sleep 0.1; done
step './bin/bax.js scrape'
./bin/bax.js scrape "http://127.0.0.1:$(cat /tmp/port)/" | tee /tmp/page.md
grep -q '^# Fresh machine' /tmp/page.md
if [ -n "$1" ]; then
  step 'npm run test:all'
  # The globs are meant to expand.
  npm run test:all -- $1
else
  step '.ci/run'
  .ci/run
fi
step './bin/bax.js doctor'
./bin/bax.js doctor
step 'done'
PROOF

# Runs in the bare root; $1 is the package.
read -r -d '' install_proof <<'PROOF' || true
set -eu
cd /root
case $1 in
  *.tgz) ;;
  *) ! command -v node >/dev/null || { echo 'fresh: the bare root has Node' >&2; exit 1; } ;;
esac
printf 'fresh: installing %s\n' "$1" >&2
apt-get -qq update
case $1 in
  *.deb) DEBIAN_FRONTEND=noninteractive apt-get -y -qq install "./$1" ;;
  *.tgz) npm install --global "./$1" && bax setup ;;
  *)
    install -m 755 "$1" /usr/local/bin/bax
    DEBIAN_FRONTEND=noninteractive apt-get -y -qq install ca-certificates chromium chromium-headless-shell libstdc++6
    ;;
esac >/root/apt.log 2>&1 || { tail -n 20 /root/apt.log >&2; exit 1; }
PROOF

# Runs there without a network.
read -r -d '' tour_proof <<'PROOF' || true
set -eu
cd /root
# npm keeps its own logs.
files() { find . -xdev -path ./.npm -prune -o -type f -print | sort; }
files >/tmp/before
SECONDS=0
bax --version
test "$(echo '<h1>Hello</h1>' | bax extract -)" = '# Hello'
bax demo tour --output tour
ls -l tour >&2
printf 'fresh: [%s s] the tour is complete\n' "$SECONDS" >&2
rm -r tour
bax update && { echo 'fresh: "bax update" succeeded without a network' >&2; exit 1; }
bax uninstall --yes
files | diff /tmp/before - >&2 || { echo 'fresh: files are left behind' >&2; exit 1; }
PROOF

# Runs a script in the bare root with a network namespace; in the background, because a signal must end this script while
# it waits. chroot does not suffice: dockerd and debootstrap need a root that is a mount point.
enter() {
  local net=$1
  shift
  setpriv --pdeathsig KILL -- nsenter --net="$net" unshare --mount --pid --ipc --uts --fork --kill-child \
    bash -c 'cd "$1" && shift && pivot_root . mnt && mount -t proc proc /proc && umount --lazy /mnt && exec "$@"' enter "$root" \
    /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    "${variables[@]}" bash -c "$@" &
  running=$!
  status=0
  wait "$running" || status=$?
  running=
  [ "$status" = 0 ] || {
    say "failed with exit code $status"
    exit "$status"
  }
}

make_disk
make_root
inherit_network_settings
make_network
mount_system
mapfile -t variables < <(inherited_variables)
if [ -n "$package" ]; then
  [[ $package != *.tgz ]] || add_node
  cp "$package" "$root/root/"
  touch "$place/offline"
  unshare --net="$place/offline" true
  nsenter --net="$place/offline" ip link set lo up
  enter "$place/net" "$install_proof" fresh "$(basename "$package")"
  enter "$place/offline" "$tour_proof" fresh
else
  add_node
  git clone --quiet --no-hardlinks "$checkout" "$root/root/bax"
  say 'running the two commands'
  enter "$place/net" "$proof" fresh "${only[*]}"
fi
