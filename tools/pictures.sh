#!/bin/sh
# The pictures of README.md, docs/plots.md and docs/compare.md, from runs of the examples.
#   tools/pictures.sh [PERP [FOLDER]]     default: build/bin/perp docs/images
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
perp=$(realpath "${1:-$root/build/bin/perp}")
mkdir -p "${2:-$root/docs/images}"
images=$(cd "${2:-$root/docs/images}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$root"

# picture NAME EXAMPLE OPTIONS...
picture() {
    file=$images/$1.svg log=$folder/$2.mcap
    [ -f "$log" ] || "$perp" run "examples/$2/scene.yaml" --quiet --log "$log"
    shift 2
    "$perp" plot "$log" "$@" -o "$file" >/dev/null
}

picture scene-three-finger-grasp three-finger-grasp --what scene --size 320x300
picture scene-micro-gear micro-gear --what scene --size 320x300
picture scene-peg-in-hole peg-in-hole-2d --what scene --size 320x300
picture gripper-forces gripper-2d --what forces --size 640x420
picture gripper-cone gripper-2d --what cone --size 720x320
picture gripper-sheet gripper-2d
"$perp" compare examples/fence-particle/scene.yaml --models qs-ncp,qs-lcp,qs-lp --until 2 --tests 0 -o "$images/compare-cones.svg" >/dev/null
tools/draw_contact_patches.py "$perp" >"$images/contact-patches.svg"
echo "pictures: made anew in $images"
