#!/bin/sh
# /etc/config/ackord as the configuration that `ackord gateway run` reads, to standard output.
#
# Usage: uci-to-toml.sh            on OpenWrt
# Options keep their names; a list becomes an array. Nothing is checked here: the gateway does, and says
# which line of the result is wrong.

# shellcheck source=/dev/null
. "${IPKG_INSTROOT:-}/lib/functions.sh"

# quoted VALUE: as a TOML string.
quoted() {
    printf '%s' "$1" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/"/'
}

# value VALUE: a whole number as it is, anything else as a string.
value() {
    case $1 in
    '' | *[!0-9]*) quoted "$1" ;;
    *) printf '%s' "$1" ;;
    esac
}

# element VALUE: adds one to `elements`.
element() {
    elements="$elements${elements:+, }$(value "$1")"
}

# key SECTION OPTION [KEY]: a line, where the section says something about it.
key() {
    config_get said "$1" "$2"
    [ -z "$said" ] || printf '%s = %s\n' "${3:-$2}" "$(value "$said")"
}

# text SECTION OPTION KEY: the same for what is a string even where it has digits only.
text() {
    config_get said "$1" "$2"
    [ -z "$said" ] || printf '%s = %s\n' "$3" "$(quoted "$said")"
}

# list SECTION OPTION: an array.
list() {
    elements=""
    config_list_foreach "$1" "$2" element
    [ -z "$elements" ] || printf '%s = [%s]\n' "$2" "$elements"
}

gateway() {
    text "$1" wan wan
    list "$1" lan
    text "$1" remedy remedy
    text "$1" control control
}

queue() {
    printf '\n[queue.%s]\n' "$1"
    for option in discipline rate; do text "$1" "$option" "$option"; done
}

rule() {
    printf '\n[[rule]]\n'
    for option in name interface remedy; do text "$1" "$option" "$option"; done
    for option in mobile fixed port mobile_port dscp; do list "$1" "$option"; done
    key "$1" mark
}

limits() {
    printf '\n[limits]\n'
    for option in connections cache_per_flow cache injected injected_rate fast copied; do key "$1" "$option"; done
}

# The tables that belong to options of the gateway itself.
tables() {
    config_get said "$1" metrics
    [ -z "$said" ] || printf '\n[metrics]\nlisten = %s\n' "$(quoted "$said")"
    config_get said "$1" log_level
    [ -z "$said" ] || printf '\n[log]\nlevel = %s\n' "$(quoted "$said")"
    printf '\n[state]\ndirectory = "/var/run/ackord"\n'
}

config_load ackord
# What belongs to no table comes first: TOML has no way back.
config_foreach gateway gateway
config_foreach queue queue
config_foreach rule rule
config_foreach limits limits
config_foreach tables gateway
