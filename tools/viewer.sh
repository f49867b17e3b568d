#!/bin/sh
# The replay page's own tools: its type checker and the driver of its tests, in build/viewer_tools and nowhere else.
#
#   tools/viewer.sh lint             checks the types of viewer/src
#   tools/viewer.sh packages [DIR]   installs the packages into DIR (build/viewer_tools) if they are not there
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

packages() {
    mkdir -p "$1"
    cmp -s "$root/viewer/package-lock.json" "$1/node_modules/installed-lock.json" && return 0
    cp "$root/viewer/package.json" "$root/viewer/package-lock.json" "$root/viewer/.npmrc" "$1"
    npm ci --prefix "$1" --ignore-scripts --no-progress --loglevel=error >&2
    cp "$root/viewer/package-lock.json" "$1/node_modules/installed-lock.json"
}

case ${1:-} in
lint)
    folder=$root/build/viewer_tools
    packages "$folder"
    rm -rf "$folder/src"
    cp -r "$root/viewer/src" "$root/viewer/tsconfig.json" "$folder"
    "$folder/node_modules/.bin/tsc" --noEmit -p "$folder"
    ;;
packages) packages "${2:-$root/build/viewer_tools}" ;;
*)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
