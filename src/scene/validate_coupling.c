/* Joints that mimic others, and tendons. A joint that mimics another begins where that one leads it, so joints are
 * checked after the ones that they follow. */
#include "scene/drive.h"
#include "scene/scene_memory.h"
#include "scene/validator.h"

static const char *nearest_joint(const validator *v, const char *name)
{
    perp_nearest nearest = perp_nearest_begin(name);
    for (int i = 0; i < v->scene->joint_count && v->diagnostics->errors < PERP_DIAGNOSTICS_PER_SEVERITY; i++) {
        perp_nearest_offer(&nearest, v->scene->joints[i].name);
    }
    return nearest.name;
}

/* Index of the scalar joint called `name`, -1 after an error. */
static int resolve_joint(validator *v, const char *key, const char *name)
{
    const int index = name ? perp_scene_find_joint(v->scene, name) : -1;
    if (index < 0) {
        const char *nearest = name ? nearest_joint(v, name) : NULL;
        perp_validator_error(v, key, "there is no joint `%s`%s%s%s", name ? name : "",
                             nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "`?" : "");
        return -1;
    }
    const perp_joint_kind kind = v->scene->joints[index].kind;
    if (perp_joint_position_size(kind) != 1) {
        perp_validator_error(v, key, "`%s` is a %s joint; only revolute, prismatic and screw joints can be coupled",
                             name, perp_joint_kind_name(kind));
        return -1;
    }
    return index;
}

/* ---- tendons ----------------------------------------------------------------------------------------------------- */

void perp_validate_terms(validator *v, perp_loop *loop)
{
    loop->body_a = loop->body_b = -1;
    if (loop->mimic) { /* perp_validate_joints has checked it */
        for (int i = 0; i < loop->term_count; i++) {
            loop->terms[i].joint_index = perp_scene_find_joint(v->scene, loop->terms[i].joint);
        }
        return;
    }
    if (loop->term_count < 1) {
        perp_validator_error(v, "joints", "a tendon needs joints: {JOINT: COEFFICIENT, ..}");
    }
    for (int i = 0; i < loop->term_count; i++) {
        perp_loop_term *term = &loop->terms[i];
        const size_t mark = perp_validator_enter(v, "joints.%s", term->joint ? term->joint : "");
        term->joint_index = resolve_joint(v, NULL, term->joint);
        if (!isfinite(term->coefficient) || term->coefficient == 0.0) {
            perp_validator_error(v, NULL, "a coefficient must be finite and not 0; leave out joints that do not count");
        }
        perp_validator_leave(v, mark);
    }
    perp_validate_real(v, "length", loop->length, RANGE_FINITE);
}

/* ---- mimics ------------------------------------------------------------------------------------------------------ */

enum { NO_LEADER = -1, LEADER_LOST = -2 };

/* The joint that joint `index` follows, LEADER_LOST after an error. */
static int find_leader(validator *v, int index)
{
    const perp_joint *joint = &v->scene->joints[index];
    const int faults = v->faults;
    if (!joint->mimic) {
        return NO_LEADER;
    }
    const size_t mark = perp_validator_enter(v, "joints.%s.mimic", joint->name);
    const int leader = resolve_joint(v, "joint", joint->mimic);
    if (leader == index) {
        perp_validator_error(v, "joint", "a joint cannot mimic itself; name another one");
    } else if (leader >= 0 && perp_joint_position_size(joint->kind) != 1) {
        perp_validator_error(v, NULL, "only revolute, prismatic and screw joints can mimic another; `%s` is %s",
                             joint->name, perp_joint_kind_name(joint->kind));
    }
    if (perp_validate_real(v, "ratio", joint->mimic_ratio, RANGE_FINITE) && joint->mimic_ratio == 0.0) {
        perp_validator_error(v, "ratio", "must not be 0; a joint that never moves is `type: fixed`");
    }
    perp_validate_real(v, "offset", joint->mimic_offset, RANGE_FINITE);
    perp_validator_leave(v, mark);
    return v->faults == faults ? leader : LEADER_LOST;
}

/* Following leaders from any joint must end; where it does not, the ring is reported once and cut. `seen` is 0. */
static void cut_rings(validator *v, int *leader, int *seen)
{
    for (int start = 0; start < v->scene->joint_count; start++) {
        int j = start;
        while (j >= 0 && seen[j] == 0) {
            seen[j] = start + 1;
            j = leader[j];
        }
        if (j >= 0 && seen[j] == start + 1) {
            const size_t mark = perp_validator_enter(v, "joints.%s.mimic", v->scene->joints[j].name);
            perp_validator_error(v, "joint", "joints mimic one another in a ring; one of them must mimic none");
            perp_validator_leave(v, mark);
            leader[j] = LEADER_LOST;
        }
    }
}

/* What is not written of a joint's start follows from that of its leader, which is sound. */
static void begin_as(const perp_joint *leader, perp_joint *joint)
{
    const bool prescribed = leader->control == PERP_CONTROL_POSITION;
    const double at = prescribed ? perp_drive_value(&leader->command, 0.0) : leader->position[0];
    const double rate = prescribed                                 ? perp_drive_rate(&leader->command, 0.0)
                        : leader->control == PERP_CONTROL_VELOCITY ? perp_drive_value(&leader->command, 0.0)
                                                                   : leader->velocity[0];
    joint->position[0] = joint->position_set ? joint->position[0] : joint->mimic_ratio * at + joint->mimic_offset;
    joint->velocity[0] = joint->velocity_set ? joint->velocity[0] : joint->mimic_ratio * rate;
}

enum { UNCHECKED, SOUND, FAULTY };

static int check_joint(validator *v, int index, int leader, const int *checked)
{
    perp_joint *joint = &v->scene->joints[index];
    const int faults = v->faults;
    if (leader == LEADER_LOST || (leader >= 0 && checked[leader] == FAULTY)) {
        return FAULTY; /* where it begins is not known */
    }
    if (leader >= 0) {
        begin_as(&v->scene->joints[leader], joint);
    }
    const size_t mark = perp_validator_enter(v, "joints.%s", joint->name);
    perp_validate_joint(v, joint);
    perp_validator_leave(v, mark);
    return v->faults == faults ? SOUND : FAULTY;
}

void perp_validate_joints(validator *v)
{
    const int count = v->scene->joint_count;
    int *leader = PERP_ARENA_NEW(&v->scene->memory->arena, int, 3 * (size_t)count);
    if (!leader) {
        v->out_of_memory = true;
        return;
    }
    int *seen = leader + count, *checked = seen + count;
    for (int i = 0; i < count; i++) {
        leader[i] = find_leader(v, i);
    }
    cut_rings(v, leader, seen);
    int *waiting = seen; /* done with */
    for (int i = 0; i < count; i++) {
        int n = 0;
        for (int j = i; j >= 0 && checked[j] == UNCHECKED; j = leader[j]) {
            waiting[n++] = j;
        }
        while (n-- > 0) {
            checked[waiting[n]] = check_joint(v, waiting[n], leader[waiting[n]], checked);
        }
    }
}
