# shellcheck shell=bash
# Shared by addsiterepo, otherpkgs and ospkgs: repositories and lists of packages, in xCAT's form.

# Sets `urls` to the addresses of the folders $1, separated by comma: a path is on this node if it
# exists, else on the management node.
repository_urls() {
    local dir server=${NFSSERVER:-${MASTER_IP:-${MASTER:-${SITEMASTER-}}}} port=${HTTPPORT-}
    local list
    [[ $1 != *[[:cntrl:]]* ]] ||
        die "not the address of a repository: ${1@Q}" "give URLs, separated by comma"
    IFS=, read -r -a list <<<"$1"
    urls=()
    for dir in ${list[@]+"${list[@]}"}; do
        dir=${dir#"${dir%%[! ]*}"} dir=${dir%"${dir##*[! ]}"}
        [ -n "$dir" ] || continue
        # For apt, suite and components follow after a blank.
        [[ $dir =~ ^[A-Za-z0-9:/._~%@+=\ -]+$ && $dir != -* ]] ||
            die "not the address of a repository: ${dir@Q}" "give a URL, or a folder that begins with /"
        case $dir in
        http://* | https://* | ftp://* | file:///*) ;;
        /*)
            if [ -d "$dir" ]; then
                dir=file://$dir
            else
                [[ $server =~ ^[A-Za-z0-9][A-Za-z0-9_.:-]*$ ]] ||
                    die "$dir is not on this node, and MASTER is not set" \
                        "give the URL of the repository, or MASTER in the env of site.toml"
                dir=http://$server${port:+:$port}$dir
            fi
            ;;
        *) die "not the address of a repository: ${dir@Q}" "give a URL, or a folder that begins with /" ;;
        esac
        urls+=("$dir")
    done
}

# repositories NAME KEY [1]: configures `urls` as the package manager's repositories of that name. KEY
# is a file in the bundle's folder with the public key that signed the packages. With 1 they may be
# unreachable.
repositories() {
    local name=provost-$1 key=$2 url number=0 text='' file manager root=${PROVOST_ROOT-}
    local from='' signed=trusted=yes check=0
    root=${root%/}
    manager=$(package_manager)
    if [ -n "$key" ]; then
        [[ /$key/ != */../* && $key != /* && -f $key ]] ||
            die "there is no key $key in the bundle" "add it to the folder that is published"
        from=/etc/pki/rpm-gpg/$name.key
        [ "$manager" != apt ] || from=/etc/apt/keyrings/$name.asc
        file_write "$root$from" 0644 <"$key"
        if [ "$manager" != apt ] && changes; then
            run rpm ${root:+--root "$root"} --import "$key"
        fi
    elif [ ${#urls[@]} -gt 0 ]; then
        warn "the packages of ${urls[*]} are not verified: no key is given"
    fi
    [ -z "$from" ] || signed=signed-by=$from check=1
    for url in ${urls[@]+"${urls[@]}"}; do
        number=$((number + 1))
        if [ "$manager" = apt ]; then
            # A flat repository, unless it has a suite.
            [[ $url == *' '* ]] || url="${url%/}/ ./"
            text+="deb [$signed] $url"$'\n'
        else
            text+="[$name-$number]"$'\n'"name=$name-$number"$'\n'"baseurl=$url"$'\n'"enabled=1"$'\n'
            text+="gpgcheck=$check"$'\n'"repo_gpgcheck=0"$'\n'
            text+="skip_if_unavailable=${3-0}"$'\n'
            [ -z "$from" ] || text+="gpgkey=file://$from"$'\n'
            # So that changes of the repository are found at once.
            [ "$manager" != zypper ] || text+="autorefresh=1"$'\n'
            [ "$manager" = zypper ] || text+="metadata_expire=60"$'\n'
        fi
    done
    case $manager in
    apt) file=/etc/apt/sources.list.d/$name.list ;;
    zypper) file=/etc/zypp/repos.d/$name.repo ;;
    *) file=/etc/yum.repos.d/$name.repo ;;
    esac
    if [ -n "$text" ]; then
        file_write "$root$file" 0644 <<<"# Written by the postscript $1; edit the site instead."$'\n'"${text%$'\n'}"
    else
        file_remove "$root$file"
    fi
}

# packages WHAT LIST: removes and installs the packages of a list in xCAT's form: names separated by
# comma; `--x` is removed before, `-x` after the others are installed; a name may have a folder.
packages() {
    local what=$1 item list before=() after=() install=()
    read -r -d '' -a list <<<"${2//,/ }" || true # read fails at the end of the text
    for item in ${list[@]+"${list[@]}"}; do
        case $item in
        --*) before+=("${item#--}") ;;
        -*) after+=("${item#-}") ;;
        @*) install+=("$item") ;;
        *) install+=("${item##*/}") ;;
        esac
    done
    [ ${#before[@]} -eq 0 ] || package_remove "${before[@]}"
    [ ${#install[@]} -eq 0 ] || package_install "${install[@]}" ||
        die "cannot install $what" \
            "see above which package is missing: add its repository, or remove it from $what"
    [ ${#after[@]} -eq 0 ] || package_remove "${after[@]}"
}
