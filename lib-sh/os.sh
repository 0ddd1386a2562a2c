# shellcheck shell=dash
#= The system
#
# If `PROVOST_ROOT` is set, they work on the system in that folder instead of `/`.

#: os_id
#: Prints the system's ID as in os-release, e.g. `rocky`, `debian`, `sles`.
#: Status: 0; 1 if there is no os-release.
#: Example: [ "$(os_id)" = ubuntu ]
os_id() {
    _provost_os_release && printf '%s\n' "$_provost_os_id"
}

#: os_version
#: Prints the system's VERSION_ID, e.g. `9.4`; an empty line if it has none.
#: Status: 0; 1 if there is no os-release.
#: Example: case $(os_version) in 9*) … ;; esac
os_version() {
    _provost_os_release && printf '%s\n' "$_provost_os_version"
}

#: os_like
#: Prints the system's ID_LIKE, e.g. `rhel centos fedora`; an empty line if it has none.
#: Status: 0; 1 if there is no os-release.
#: Example: os_like
os_like() {
    _provost_os_release && printf '%s\n' "$_provost_os_like"
}

#: os_family
#: Prints `rhel`, `suse` or `debian`, or `unknown`.
#: Status: 0; 1 if it is unknown.
#: Example: case $(os_family) in rhel) … ;; suse) … ;; esac
os_family() {
    _provost_os_family
    printf '%s\n' "$_provost_family"
    [ "$_provost_family" != unknown ]
}

#: os_arch
#: Prints the machine's architecture as the kernel names it, e.g. `x86_64`, `aarch64`.
#: Status: 0.
#: Example: info "drivers for $(os_arch)"
os_arch() {
    uname -m
}

#: in_chroot
#: Tests whether the script runs in a chroot, such as an installer's, where no service can be
#: started. A container isn't one. Where root may not see the root of process 1, it counts as a chroot,
#: with a warning, because it may be one of another system.
#: Status: 0 if so, 1 if not.
#: Example: in_chroot || sysctl --system
in_chroot() {
    # Without /proc this system isn't set up to run.
    [ -e /proc/1 ] || return 0
    if [ -e /proc/1/root/. ]; then
        ! [ /proc/1/root/. -ef / ]
        return
    fi
    # Without root this isn't an installer, and nothing of the host can be changed either.
    [ "$(id -u)" -eq 0 ] || return 1
    [ -n "${_provost_chroot_unknown-}" ] ||
        warn "may not read /proc/1/root: takes this for a chroot, and leaves the running system alone"
    _provost_chroot_unknown=yes
}

#: is_diskless
#: Tests whether the root file system is lost at the next boot or is another machine's: memory, an
#: overlay over an image, NFS.
#: Status: 0 if so, 1 if not.
#: Example: if is_diskless; then skip "nothing to keep on this node"; fi
is_diskless() {
    local _ point type root=
    while read -r _ point type _; do
        if [ "$point" = / ]; then
            root="$type"
        fi
    done </proc/mounts
    case "$root" in
    tmpfs | ramfs | rootfs | squashfs | overlay | aufs | nfs | nfs4) return 0 ;;
    *) return 1 ;;
    esac
}

# Sets _provost_root to PROVOST_ROOT without a slash at its end; empty for `/`.
_provost_root() {
    _provost_root="${PROVOST_ROOT-}"
    while :; do
        case "$_provost_root" in
        */) _provost_root="${_provost_root%/}" ;;
        *) return 0 ;;
        esac
    done
}

# Reads os-release once for each root; as text, it is never executed.
_provost_os_release() {
    local file line value
    _provost_root
    if [ "${_provost_os_root-none}" = "$_provost_root" ]; then
        return 0
    fi
    _provost_os_id=linux _provost_os_version='' _provost_os_like=''
    for file in "$_provost_root/etc/os-release" "$_provost_root/usr/lib/os-release" ''; do
        # Seen from outside a root, the first is often a broken link.
        [ ! -f "$file" ] || break
    done
    if [ -z "$file" ]; then
        _provost_error os_release "there is no $_provost_root/etc/os-release" \
            "install the package with the system's release file"
        return
    fi
    while read -r line || [ -n "$line" ]; do
        value="${line#*=}"
        case "$value" in
        \"*\") value="${value#\"}" value="${value%\"}" ;;
        \'*\') value="${value#\'}" value="${value%\'}" ;;
        esac
        case "$line" in
        ID=*) _provost_os_id="$value" ;;
        VERSION_ID=*) _provost_os_version="$value" ;;
        ID_LIKE=*) _provost_os_like="$value" ;;
        esac
    done <"$file"
    _provost_os_root="$_provost_root"
}

# Sets _provost_family.
_provost_os_family() {
    _provost_family=unknown
    _provost_os_release 2>/dev/null || return 0
    case " $_provost_os_id $_provost_os_like " in
    *' rhel '* | *' fedora '* | *' centos '* | *' rocky '* | *' almalinux '* | *' ol '*)
        _provost_family=rhel
        ;;
    *suse* | *' sles '* | *' sled '*) _provost_family=suse ;;
    *' debian '* | *' ubuntu '*) _provost_family=debian ;;
    esac
}
