# Stands in for OpenWrt's /lib/functions.sh: as much of UCI as the gateway's files ask for.
# shellcheck shell=ash

config_load() {
    sections=""
    count=0
    while IFS= read -r line; do
        case $line in '' | '#'*) continue ;; esac
        eval "set -- $line"
        case $1 in
        config)
            count=$((count + 1))
            section=${3:-cfg$count}
            sections="$sections $section"
            eval "type_$section=\$2"
            ;;
        option) eval "option_${section}_$2=\$3" ;;
        list) eval "list_${section}_$2=\"\${list_${section}_$2:-}\$3
\"" ;;
        esac
    done <"$IPKG_INSTROOT/etc/config/$1"
}

# config_get VARIABLE SECTION OPTION [DEFAULT]
config_get() {
    eval "$1=\${option_$2_$3:-\${4:-}}"
}

config_get_bool() {
    config_get "$@"
    eval "case \$$1 in 1 | on | true | yes | enabled) $1=1 ;; *) $1=0 ;; esac"
}

# config_foreach FUNCTION TYPE
config_foreach() {
    for section in $sections; do
        eval "type=\$type_$section"
        # shellcheck disable=SC2154 # eval assigns it
        [ "$type" != "$2" ] || "$1" "$section"
    done
}

# config_list_foreach SECTION OPTION FUNCTION
config_list_foreach() {
    eval "all=\${list_$1_$2:-}"
    old_ifs=$IFS
    IFS='
'
    # shellcheck disable=SC2154 # eval assigns it
    for one in $all; do
        IFS=$old_ifs
        "$3" "$one"
    done
    IFS=$old_ifs
}
