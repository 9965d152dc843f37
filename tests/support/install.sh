# install.sh -- finds out which tools and libraries are missing, and installs them with apt. Sourced by ./dev.
#
# Each row is what proves a package to be there (a command, `pc:` a pkg-config module, `/` a file) and the package that
# brings it. So a compiler, Node or library from elsewhere is as good as the distribution's, and looking takes
# milliseconds, since apt is asked only when something is missing.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash

declare -A PACKAGES
PACKAGES[build]='
gcc                   gcc
/usr/include/stdio.h  libc6-dev
meson                 meson
ninja                 ninja-build
pkg-config            pkg-config
pc:libuv              libuv1-dev
pc:libllhttp          libllhttp-dev
pc:yyjson             libyyjson-dev
pc:libcurl            libcurl4-openssl-dev
pc:libcrypto          libssl-dev
pc:zlib               zlib1g-dev
pc:sqlite3            libsqlite3-dev
pc:hiredis            libhiredis-dev
pc:libqrencode        libqrencode-dev
/usr/share/zoneinfo/UTC  tzdata
'
PACKAGES[node]='
node                  nodejs
npm                   npm
'
PACKAGES[package]='
zip                   zip
unzip                 unzip
objdump               binutils
'
PACKAGES[lint]='
clang-format          clang-format
clang-tidy            clang-tidy
cppcheck              cppcheck
shellcheck            shellcheck
'
PACKAGES[test]="${PACKAGES[build]} ${PACKAGES[node]} ${PACKAGES[package]} ${PACKAGES[lint]}"'
pc:check              check
redis-server          redis-server
wrk                   wrk
nginx                 nginx
chromium              chromium
valgrind              valgrind
gdb                   gdb
git                   git
curl                  curl
/usr/lib/debug/.build-id  libc6-dbg
/etc/ssl/certs/ca-certificates.crt  ca-certificates
'
# Elsewhere the assembly for aarch64 is at home, or there is no cross compiler for it.
[ "$(uname -m)" != x86_64 ] || PACKAGES[test]+='
aarch64-linux-gnu-gcc              gcc-aarch64-linux-gnu
/usr/aarch64-linux-gnu/include     libc6-dev-arm64-cross
'
PACKAGES[bench]="${PACKAGES[test]}"'
go                    golang-go
'
PACKAGES[fuzz]="${PACKAGES[build]}"'
pc:check              check
clang                 clang
'

is_there()
{
    case $1 in
    pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# missing SET… -- sets `lacking` (what was looked for) and `wanted` (the packages that bring it).
missing()
{
    local set probe package modules all_modules
    lacking=() wanted=()
    for set in "$@"; do
        # One call for all modules; one for each only if that fails.
        mapfile -t modules < <(grep -o 'pc:[^ ]*' <<<"${PACKAGES[$set]}" | sed 's/pc://')
        all_modules=no
        if command -v pkg-config >/dev/null && pkg-config --exists "${modules[@]}" 2>/dev/null; then
            all_modules=yes
        fi
        while read -r probe package; do
            [ -n "$probe" ] || continue
            if [[ $probe == pc:* && $all_modules == yes ]] || is_there "$probe"; then
                continue
            fi
            lacking+=("$probe") wanted+=("$package")
        done <<<"${PACKAGES[$set]}"
    done
}

# need SET… -- installs what is missing of the sets, or says what is and stops.
need()
{
    local lacking wanted
    missing "$@"
    if [ ${#wanted[@]} -gt 0 ]; then
        command -v apt-get >/dev/null || die "missing: ${lacking[*]}
  Without apt I cannot install them: please install these commands and pkg-config modules (pc:) yourself."
        install_packages "$@"
        missing "$@"
        [ ${#lacking[@]} -eq 0 ] || die "still missing after the installation: ${lacking[*]}"
    fi
    if [[ " $* " == *" fuzz "* ]]; then
        need_fuzzer_runtime
    fi
}

# libFuzzer's runtime comes in a package named after clang's version.
need_fuzzer_runtime()
{
    local version runtime
    version=$(clang -dumpversion | cut -d. -f1)
    runtime=$(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a")
    [ -e "$runtime" ] || apt_install "libclang-rt-$version-dev"
}

as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        command -v sudo >/dev/null || die "packages are missing, and only root can install them: ${wanted[*]}"
        sudo "$@"
    fi
}

install_packages()
{
    # Two copies of this script must not both ask apt: the second waits, and then finds everything in place.
    exec 9>"${TMPDIR:-/tmp}/trestle-install-$(id -u).lock"
    flock 9
    missing "$@"
    if [ ${#wanted[@]} -gt 0 ]; then
        say "installing: ${wanted[*]}"
        apt_quiet update
        add_source_if_needed
        apt_install "${wanted[@]}"
    fi
    exec 9>&-
}

apt_quiet()
{
    local log
    log=$(mktemp)
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=600 "$@" \
        >"$log" 2>&1 </dev/null; then
        tail -n 30 "$log" >&2
        rm -f "$log"
        die "apt-get $1 failed"
    fi
    rm -f "$log"
}

# Installing a server must not start it: while apt works, policy-rc.d says no (101), unless the machine has its own.
apt_install()
{
    local policy=/usr/sbin/policy-rc.d ours=no
    if [ ! -e $policy ]; then
        ours=yes
        # shellcheck disable=SC2016 # expanded by the inner shell
        as_root sh -c 'printf "#!/bin/sh\nexit 101\n" >"$1" && chmod 755 "$1"' sh $policy
    fi
    (apt_quiet install --no-install-recommends "$@") || ours=$ours-failed
    [[ $ours == no* ]] || as_root rm -f $policy
    [[ $ours != *failed ]] || exit 1
}

# Debian 12 has neither llhttp nor yyjson: they come from Debian 13, and by the pin nothing else can. The mirror's address
# and its key are those of the machine's own source of Debian 12.
add_source_if_needed()
{
    local name package absent=no
    for package in libllhttp-dev libyyjson-dev; do
        [ -n "$(apt-cache madison "$package" 2>/dev/null)" ] || absent=yes
    done
    [ $absent = yes ] || return 0
    name=$(. /etc/os-release && echo "${VERSION_CODENAME:-unknown}")
    [ "$name" = bookworm ] || die "this system's packages lack llhttp or yyjson (libllhttp-dev, libyyjson-dev).
  They are in Debian 13, Ubuntu 24.04 and later; on Debian 12 I can add them, on '$name' I cannot."

    local uri file key
    # shellcheck disable=SC2016 # apt's own variables
    read -r uri file < <(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI) $(SOURCESENTRY)' \
        'Created-By: Packages' | awk '$1 == "bookworm" && $2 == "main" {print $3, $4; exit}') ||
        die "no source of Debian 12 (bookworm main) in apt's configuration, so I know no mirror for llhttp and yyjson"
    file=${file%:*}
    key=$(grep -oiE 'signed-by *[:=] *"?/[^] "]+' "$file" | grep -oE '/.*' | head -n 1) || true
    : "${key:=/usr/share/keyrings/debian-archive-keyring.gpg}"

    say "adding Debian 13 (trixie) as a source of libllhttp and libyyjson alone: /etc/apt/*.d/trestle-trixie*"
    apt_install debian-archive-keyring # early releases of Debian 12 do not know Debian 13's keys
    printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' "$uri" "$key" |
        as_root tee /etc/apt/sources.list.d/trestle-trixie.sources >/dev/null
    printf 'Package: %s\nPin: release n=trixie\nPin-Priority: %s\n\n' 'libllhttp* libyyjson*' 100 '*' -1 |
        as_root tee /etc/apt/preferences.d/trestle-trixie >/dev/null
    apt_quiet update
}

# need_node_modules -- the npm packages that tests and ./dev run --azurite use, in the versions of the lock file.
need_node_modules()
{
    need node
    local dir=tests/support
    if ! cmp -s $dir/package-lock.json $dir/node_modules/.installed-lock; then
        say "installing the npm packages of $dir/package.json"
        (cd $dir && npm ci --silent --no-audit --no-fund --ignore-scripts) || die "npm ci failed in $dir"
        cp $dir/package-lock.json $dir/node_modules/.installed-lock
    fi
}
