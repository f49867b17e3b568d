#!/usr/bin/env bash
# What `make demo` shows: three scenes checked and moved, two with contact forces, a mistake explained, inverse kinematics.
set -eu
cd "$(dirname "$0")/.."
perp=${1:-build/bin/perp}
absolute=$(realpath "$perp")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { say "\$ $*"; "$@"; }

show "$perp" models
for name in driven-fence screw-press arm-reach; do
    show "$perp" check "examples/$name/scene.yaml"
    show "$perp" run "examples/$name/scene.yaml"
done

say "Contact forces: fingers on springs close on a disc and slide down along it (events: when it touches, sticks, slips)"
show "$perp" run examples/gripper-2d/scene.yaml
say "Ten cubes in space, the lowest pushed from the side: the stack sticks together and slides as one"
show "$perp" run examples/cube-stack/scene.yaml

say "A mistake in a scene gets its place and a remedy:"
sed 's/density/densty/; s/axis: \[0, 0, 1\]/axis: [0, 0, 0]/' > "$folder/door.yaml" <<'SCENE'
perp: 1
bodies:
  door: {density: 600, shapes: [{box: [0.8, 0.04, 2], pose: {position: [0.4, 0, 1]}}]}
joints:
  hinge: {type: revolute, parent: world, child: door, axis: [0, 0, 1], limits: [0, 1.8]}
SCENE
(cd "$folder" && "$absolute" check door.yaml) || printf '(exit code %d)\n' $?

say "Joint angles that put the hand straight above the cube:"
show "${perp%/*}/examples/inverse-kinematics" examples/arm-reach/scene.yaml 0.5 0 0.1084
say "Next: $perp run --help, docs/scene-keys.md, examples/; all examples as pictures:"
