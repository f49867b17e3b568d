#!/usr/bin/env python3
"""What holding a simulation costs: instructions a step of the loop over steps itself, without the rung's step, contacts,
events and hash, which every loop has to call for. Counted by valgrind between 50 and 100 steps, so that it is the same
on every machine with the same build.

    tools/step_overhead.py build/bin/perp [ANOTHER_PERP]

With another perp (of a commit before simulations, whose loop stood in perp_run) the share is what has been added to it.
"""
import re
import subprocess
import sys
import tempfile

CASES = [("pusher-2d", "kinematic"), ("pusher-2d", "qs-qp"), ("sphere-roll", "dyn-ncp"), ("gripper-2d", "dyn-ncp"),
         ("cube-stack", "qs-qp"), ("pusher-2d", "compliant")]
# The loop itself, its calls into one another being inlined or not; `whole` are counted with all that they call.
LOOP = {"run_from", "take_steps", "take_step", "complete_info", "look_at_contacts", "perp_sim_look", "perp_sim_step",
        "keep_for_undo", "add_events", "note_time", "now_us"}
WHOLE = {"clock_gettime", "perp_run_memory_save", "perp_sim_keep_elements", "perp_contact_set_margin",
         "perp_sim_judge_memory", "perp_sim_lead_steps", "perp_sim_lead_done"}


def read_profile(path):
    """Own instructions by function, and instructions by pair of functions."""
    names, own, calls, function, lines = {}, {}, {}, None, iter(open(path))

    def name(text):
        number, given = re.match(r"\((\d+)\)(?: (.*))?", text).groups()
        if given:
            names[number] = re.split("['@]", given)[0]
        return names[number]

    for line in lines:
        if line.startswith("fn="):
            function = name(line[3:])
        elif line.startswith("cfn="):
            called = name(line[4:])
        elif line.startswith("calls="):
            calls[function, called] = calls.get((function, called), 0) + int(next(lines).split()[1])
        elif re.match(r"[+\-*\d]\S* \d+$", line):
            own[function] = own.get(function, 0) + int(line.split()[1])
    return own, calls


def count(perp, example, model, steps):
    """Instructions of the run, and of those its loop's."""
    with tempfile.NamedTemporaryFile() as profile:
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile.name}", perp, "run",
                        f"examples/{example}/scene.yaml", "--model", model, "--steps", str(steps)],
                       check=True, capture_output=True)
        own, calls = read_profile(profile.name)
    loop = sum(own.get(name, 0) for name in LOOP)
    loop += sum(cost for (caller, called), cost in calls.items() if caller in LOOP and called in WHOLE)
    return own["run_from"] + sum(cost for (caller, called), cost in calls.items() if caller == "run_from"), loop


def per_step(perp, example, model):
    return [(more - less) / 50 for more, less in zip(count(perp, example, model, 100), count(perp, example, model, 50))]


def main(perp, before=None):
    print("| example | rung | a step | its loop | " + ("loop before | share |" if before else "share |"))
    print("|---|---|---|---|---|" + ("---|" if before else ""))
    for example, model in CASES:
        step, loop = per_step(perp, example, model)
        was = per_step(before, example, model)[1] if before else 0.0
        print(f"| {example} | `{model}` | {step:,.0f} | {loop:,.0f} | " + (f"{was:,.0f} | " if before else "") +
              f"{100 * (loop - was) / step:.2f} % |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
