#!/bin/sh
# The pictures of README.md, docs and examples, from runs and sweeps of the examples.
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

# map NAME SWEEP COLUMNS OPTIONS...
map() {
    file=$images/$1.svg sweep=examples/$2.yaml table=$folder/$1.csv columns=$3
    shift 3
    "$perp" sweep "$sweep" -o "$table" >/dev/null
    "$perp" plot "$table" --map "$columns" "$@" -o "$file" >/dev/null
}

picture scene-three-finger-grasp three-finger-grasp --what scene --size 320x300
picture scene-micro-gear micro-gear --what scene --size 320x300
picture scene-peg-in-hole peg-in-hole-2d --what scene --size 320x300
picture gripper-forces gripper-2d --what forces --size 640x420
picture gripper-cone gripper-2d --what cone --size 720x320
picture gripper-sheet gripper-2d
"$perp" compare examples/fence-particle/scene.yaml --models qs-ncp,qs-lcp,qs-lp --until 2 --tests 0 -o "$images/compare-cones.svg" >/dev/null
map map-rod-stability rod-two-walls/stability mu1,mu2,stable --label "kappa=c²/k" \
    --label "mu1=µ1 at the floor, signed (1)" --label "mu2=µ2 at the wall, signed (1)"
map map-rod-stability-wide rod-two-walls/stability-wide mu1,mu2,stable --label "kappa=c²/k" \
    --label "mu1=µ1 at the floor, signed (1)" --label "mu2=µ2 at the wall, signed (1)"
map map-rod-p-matrix rod-two-walls/p-matrix mu1,mu2,p_matrix,d11,d22,det --label "p_matrix=D is a P-matrix" \
    --label "mu1=µ1 at the floor, signed (1)" --label "mu2=µ2 at the wall, signed (1)" \
    --label "d11=sign of D11" --label "d22=sign of D22" --label "det=sign of det D"
map map-rod-p-matrix-wide rod-two-walls/p-matrix-wide mu1,mu2,p_matrix,d11,d22,det --label "p_matrix=D is a P-matrix" \
    --label "mu1=µ1 at the floor, signed (1)" --label "mu2=µ2 at the wall, signed (1)" \
    --label "d11=sign of D11" --label "d22=sign of D22" --label "det=sign of det D"
map map-painleve painleve-rod/map theta,mu,solutions --label "theta=angle from the floor (deg)" \
    --label "mu=µ (1)" --label "solutions=accelerations that are possible"
map map-peg-jamming peg-in-hole-2d/jamming tilt,mu,margin,jammed --label "tilt=tilt (rad)" --label "mu=µ (1)" \
    --label "margin=margin (1)"
map map-push-turn push-turn/map offset,mu,turn,slides --label "offset=offset of the finger (m)" --label "mu=µ (1)" \
    --label "turn=sense of turning" --label "slides=finger sticks or slides"
if [ $# -lt 2 ]; then # by the installed Chromium, whose pixels are not the same everywhere, so that no test compares them
    for moment in push-bend=1.5 push-top=4 push-through-narrow=2.5; do
        "$perp" run "examples/${moment%=*}/scene.yaml" --quiet --log "$folder/${moment%=*}.mcap"
        "$perp" view "$folder/${moment%=*}.mcap" --png "$images/${moment%=*}.png" --at "${moment#*=}" --size 700x420 || true
    done
fi
tools/draw_contact_patches.py "$perp" >"$images/contact-patches.svg"
echo "pictures: made anew in $images"
