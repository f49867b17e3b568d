/* Joints: what each kind needs and what it must not have. References were resolved before (scene_validate.c). */
#include "scene/scene_memory.h"
#include "scene/validator.h"
#include "scene/tolerances.h"

static bool is_scalar(perp_joint_kind kind)
{
    return perp_joint_position_size(kind) == 1;
}

static void validate_axis(validator *v, perp_joint *joint)
{
    const bool planar = v->scene->planar;
    const bool about = joint->kind == PERP_JOINT_REVOLUTE || joint->kind == PERP_JOINT_PLANAR;
    if (joint->kind == PERP_JOINT_BALL || joint->kind == PERP_JOINT_FIXED) {
        if (joint->axis_set) {
            perp_validator_error(v, "axis", "a %s joint has no axis", perp_joint_kind_name(joint->kind));
        }
        return;
    }
    if (planar && about && !joint->axis_set) {
        joint->axis = perp_vec3_make(0, 0, 1);
        return;
    }
    if (!joint->axis_set) {
        perp_validator_error(v, NULL, "a %s joint needs an `axis`", perp_joint_kind_name(joint->kind));
        return;
    }
    if (!perp_validate_direction(v, "axis", &joint->axis)) {
        return;
    }
    if (planar && about && (joint->axis.x != 0.0 || joint->axis.y != 0.0)) {
        perp_validator_error(v, "axis", "in the plane a %s joint turns about [0, 0, 1] or [0, 0, -1]",
                             perp_joint_kind_name(joint->kind));
    }
    if (planar && !about && joint->axis.z != 0.0) {
        perp_validator_error(v, "axis", "in the plane a prismatic joint's axis has two components");
    }
}

static void validate_position(validator *v, perp_joint *joint)
{
    const int nq = perp_joint_position_size(joint->kind), nv = perp_joint_velocity_size(joint->kind);
    if (joint->kind == PERP_JOINT_BALL) {
        perp_quat q = joint->position_set
                          ? (perp_quat){joint->position[0], joint->position[1], joint->position[2], joint->position[3]}
                          : perp_quat_identity();
        perp_validate_quaternion(v, "position", &q);
        joint->position[0] = q.w;
        joint->position[1] = q.x;
        joint->position[2] = q.y;
        joint->position[3] = q.z;
    }
    for (int i = 0; i < nq; i++) {
        if (!perp_validate_real(v, "position", joint->position[i], RANGE_FINITE)) {
            break;
        }
    }
    for (int i = 0; i < nv; i++) {
        if (!perp_validate_real(v, "velocity", joint->velocity[i], RANGE_FINITE)) {
            break;
        }
    }
    if (joint->kind == PERP_JOINT_FIXED && (joint->position_set || joint->velocity_set)) {
        perp_validator_error(v, joint->position_set ? "position" : "velocity", "a fixed joint does not move");
    }
}

static void validate_limits(validator *v, const perp_joint *joint)
{
    if (!joint->limits_set) {
        return;
    }
    const double low = joint->limits[0], high = joint->limits[1];
    if (!is_scalar(joint->kind)) {
        perp_validator_error(v, "limits", "a %s joint has no limits", perp_joint_kind_name(joint->kind));
    } else if (!(low <= high)) { /* also NaN */
        perp_validator_error(v, "limits", "must be [lo, hi] with lo <= hi, but are [%g, %g]", low, high);
    } else if (joint->position[0] < low || joint->position[0] > high) {
        perp_validator_error(v, joint->position_set ? "position" : "limits",
                             "the initial position %g lies outside the limits [%g, %g]", joint->position[0], low, high);
    }
}

/* Where a joint is whose velocity is given. */
static void resolve_path(validator *v, perp_joint *joint)
{
    if (joint->command.knot_count > 0 && joint->command.interpolation != PERP_INTERPOLATE_LINEAR) {
        perp_validator_error(v, "command", "a velocity is interpolated linearly: remove `interpolate`");
    } else if (!perp_drive_integrate(&joint->command, joint->position[0], &v->scene->memory->arena, &joint->path)) {
        v->out_of_memory = true;
    }
}

static void validate_control(validator *v, perp_joint *joint)
{
    perp_validate_real(v, "stiffness", joint->stiffness, RANGE_NOT_NEGATIVE);
    perp_validate_real(v, "damping", joint->damping, RANGE_NOT_NEGATIVE);
    perp_validate_real(v, "armature", joint->armature, RANGE_NOT_NEGATIVE);
    if (joint->effort.set) {
        perp_validate_real(v, "effort", joint->effort.value, RANGE_POSITIVE);
        if (joint->control != PERP_CONTROL_TORQUE && joint->control != PERP_CONTROL_IMPEDANCE) {
            perp_validator_error(v, "effort", "`effort` limits `control: torque` and `impedance` only");
        }
    }
    if (!joint->compensation_set) {
        joint->gravity_compensation = v->scene->gravity_compensation && joint->control != PERP_CONTROL_NONE;
    }
    const bool stiff = joint->stiffness > 0.0 && joint->control != PERP_CONTROL_IMPEDANCE;
    if (stiff) {
        perp_validator_warning(v, "stiffness", "`stiffness` has no effect without `control: impedance`");
    }
    if (joint->command_set && joint->control == PERP_CONTROL_NONE) {
        perp_validator_warning(
            v, "command", "`command` has no effect without `control: position`, `impedance`, `velocity` or `torque`");
    }
    if (!is_scalar(joint->kind)) {
        if (joint->control != PERP_CONTROL_NONE) {
            perp_validator_error(v, "control",
                                 "only revolute, prismatic and screw joints can be controlled; a %s joint is "
                                 "passive",
                                 perp_joint_kind_name(joint->kind));
        }
        return;
    }
    if (joint->command_set) {
        const int faults = v->faults;
        perp_validate_drive(v, "command", &joint->command);
        const bool sound = v->faults == faults && !v->out_of_memory;
        const double start = sound ? perp_drive_value(&joint->command, 0.0) : joint->position[0];
        if (joint->control == PERP_CONTROL_POSITION && joint->position_set &&
            fabs(start - joint->position[0]) > JOINT_AS_WRITTEN) {
            perp_validator_warning(v, "command",
                                   "starts at %g, where the joint begins too; its `position` of %g is not used", start,
                                   joint->position[0]);
        }
    } else if (joint->control != PERP_CONTROL_VELOCITY && joint->control != PERP_CONTROL_TORQUE) {
        joint->command.offset = joint->position[0];
    }
    if (joint->control == PERP_CONTROL_VELOCITY) {
        resolve_path(v, joint);
    }
    if (joint->control == PERP_CONTROL_IMPEDANCE && joint->stiffness == 0.0) {
        perp_validator_error(v, NULL, "impedance control needs a positive `stiffness`");
    }
}

void perp_validate_joint(validator *v, perp_joint *joint)
{
    const int faults = v->faults;
    perp_validate_name(v, joint->name, "joint");
    if (v->faults > faults) {
        return;
    }
    if (joint->kind == PERP_JOINT_NONE || (unsigned)joint->kind >= PERP_JOINT_COUNT) {
        perp_validator_error(v, NULL, "a joint needs a `type`");
        return;
    }
    if (v->scene->planar && (joint->kind == PERP_JOINT_BALL || joint->kind == PERP_JOINT_SCREW)) {
        perp_validator_error(v, "type", "a %s joint leaves the plane; use revolute or prismatic",
                             perp_joint_kind_name(joint->kind));
        return;
    }
    perp_validate_vector(v, "anchor", joint->anchor);
    validate_axis(v, joint);
    validate_position(v, joint);
    validate_limits(v, joint);
    validate_control(v, joint);
    if (joint->kind == PERP_JOINT_SCREW) {
        if (perp_validate_real(v, "pitch", joint->pitch, RANGE_FINITE) && joint->pitch == 0.0) {
            perp_validator_error(v, "pitch",
                                 "a screw joint needs a `pitch` (metres per radian); without one it is revolute");
        }
    } else if (joint->pitch != 0.0) {
        perp_validator_error(v, "pitch", "only a screw joint has a pitch");
    }
}
