/* The ladder of models, one row a rung: what `perp models` says of it, the options that it takes, and its functions.
 * Rungs with contact forces share the step of contact_step.h and differ by their law. */
#include "step/compliant/compliant.h"
#include "step/convex/convex_step.h"
#include "step/instant/instant_list.h"
#include "step/kinematic/kinematic_step.h"
#include "step/rigid/rigid_step.h"

#include <string.h>

#define CONTACT_STEP                                                                                                   \
    .open = perp_step_open, .close = perp_step_close, .step = perp_contact_step, .look_back = perp_step_look_back,     \
    .save = perp_step_save, .restore = perp_step_restore

static const perp_rung ladder[] = {
    /* Nothing moves, so there is no step; h and steps are ignored. */
    {.name = "geometric",
     .summary = "poses, gaps and contacts at the initial state; nothing moves",
     .inertia = PERP_RUNG_INERTIA_IGNORED,
     .contact = "reported",
     .friction = "-",
     .source = "Trinkle et al., slide 9"},
    {.name = "kinematic",
     .summary = "commanded joints and driven bodies move exactly; passive ones stay, or close loops",
     .inertia = PERP_RUNG_INERTIA_IGNORED,
     .contact = "reported",
     .friction = "-",
     .source = "Trinkle et al., slide 9",
     .takes = PERP_TAKES_IMPEDANCE_AS_POSITION,
     .open = perp_kinematic_open,
     .close = perp_kinematic_close,
     .step = perp_kinematic_step},

    /* ---- rigid, without inertia ---- */
    /* Model-DLC. Its answers are many where corners share a load, and Lemke's pivots would choose by the order of
     * contacts; so where the limit of springs does not answer, the fixed point on normal forces follows, which treats
     * all alike, and the LCP last. */
    {.name = "qs-lcp",
     .summary = "rigid, position-controlled, no inertia; a mixed LCP (Model-DLC)",
     .inertia = PERP_RUNG_INERTIA_NONE,
     .contact = "rigid",
     .friction = "pyramid",
     .source = "Trinkle 2005 (24)-(26)",
     .takes = PERP_TAKES_RAYS | PERP_TAKES_IMPEDANCE_AS_POSITION,
     .own_cone = PERP_CONE_RAYS,
     .law = &perp_rigid_law_fixed_point,
     CONTACT_STEP},
    /* The mixed NCP is Coulomb's problem on the system of the step, and solved as one. With `cone: box` the cone is
     * (33), a polygon, and the problem an LCP. */
    {.name = "qs-ncp",
     .summary = "as qs-lcp, with the quadratic friction cone (Model-DQC)",
     .inertia = PERP_RUNG_INERTIA_NONE,
     .contact = "rigid",
     .friction = "quadratic cone",
     .source = "Trinkle 2005 (1), (20)-(23)",
     .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_BOX | PERP_TAKES_IMPEDANCE_AS_POSITION,
     .own_cone = PERP_CONE_QUADRATIC,
     .law = &perp_rigid_law,
     CONTACT_STEP},
    /* The fixed point starts from the normal forces of the last step. Where it does not settle it continues from those
     * of `qs-ncp`, and ends there at once: an answer of `qs-ncp` meets the optimality conditions of (29) at its own
     * normal forces, so these are among the multipliers that (29) answers with. Iterating further would only ask
     * whether the convex solver picks the same ones of many, as under a box with four corners it need not. */
    {.name = "qs-opt",
     .summary = "qs-ncp by a fixed point on the normal forces",
     .inertia = PERP_RUNG_INERTIA_NONE,
     .contact = "rigid",
     .friction = "quadratic cone",
     .source = "Trinkle 2005, Theorem 1 (29)",
     .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_IMPEDANCE_AS_POSITION,
     .own_cone = PERP_CONE_QUADRATIC,
     .law = &perp_rigid_law_fixed_point,
     CONTACT_STEP},
    /* The linear program belongs to the box (33) of friction forces, not to the pyramid of `qs-lcp` (design 4.5). */
    {.name = "qs-lp",
     .summary = "the box cone by a fixed point over linear programs",
     .inertia = PERP_RUNG_INERTIA_NONE,
     .contact = "rigid",
     .friction = "box",
     .source = "Trinkle 2005 (36)",
     .takes = PERP_TAKES_BOX | PERP_TAKES_IMPEDANCE_AS_POSITION,
     .own_cone = PERP_CONE_BOX,
     .law = &perp_rigid_law_fixed_point,
     CONTACT_STEP},
    /* The springs' force K (command - q - h v) - D v stands in the balance. */
    {.name = "qs-impedance-lcp",
     .summary = "as qs-lcp; impedance joints are springs",
     .inertia = PERP_RUNG_INERTIA_NONE,
     .contact = "rigid",
     .friction = "pyramid",
     .source = "Pang-Tedrake 2021 (6)",
     .takes = PERP_TAKES_RAYS,
     .own_cone = PERP_CONE_RAYS,
     .law = &perp_rigid_law_fixed_point,
     CONTACT_STEP},

    /* ---- convex, without inertia from step to step ---- */
    /* (10) with the gravity that its printed objective has lost:
     *
     *     min  1/2 v_a' (h K + D) v_a - (K (command - q_a) + tau_a)' v_a - tau_u' v_u
     *     s.t. (J v)_n + phi / h + mu d_j . (J v)_t >= 0   for every contact and ray j
     *
     * The multipliers are forces; fn is the sum of a contact's. Of several motions the smallest is taken, of several
     * forces those of least norm. */
    {.name = "qs-qp",
     .summary = "convex step without inertia; impedance joints are springs",
     .inertia = PERP_RUNG_INERTIA_NONE,
     .contact = "rigid",
     .friction = "Anitescu",
     .source = "Pang-Tedrake 2021 (10)",
     .takes = PERP_TAKES_RAYS | PERP_TAKES_QUADRATIC,
     .convex = true,
     .own_cone = PERP_CONE_RAYS,
     .law = &perp_convex_law,
     CONTACT_STEP},
    /* (J v)_n + phi / h >= mu |(J v)_t| */
    {.name = "qs-cone",
     .summary = "as qs-qp, with the quadratic friction cone",
     .inertia = PERP_RUNG_INERTIA_NONE,
     .contact = "rigid",
     .friction = "Anitescu",
     .source = "its limit of many rays",
     .takes = PERP_TAKES_QUADRATIC,
     .convex = true,
     .own_cone = PERP_CONE_QUADRATIC,
     .law = &perp_convex_law,
     CONTACT_STEP},
    /* Passive degrees of freedom have M / h where `qs-cone` has nothing (the printed weights of the paper, corrected):
     *
     *     min  1/2 (q_a+ - u)' K (q_a+ - u) + 1 / (2 h^2) dq_u' M_u dq_u - tau' dq
     *
     * so that the step is strictly convex and every body has an answer, also one that nothing supports. */
    {.name = "quasidynamic",
     .summary = "as qs-cone, with inertia within each step",
     .inertia = PERP_RUNG_INERTIA_ONE_STEP,
     .contact = "rigid",
     .friction = "Anitescu",
     .source = "Pang et al. 2023",
     .takes = PERP_TAKES_RAYS | PERP_TAKES_QUADRATIC | PERP_TAKES_SMOOTHING,
     .convex = true,
     .own_cone = PERP_CONE_QUADRATIC,
     .law = &perp_convex_law,
     CONTACT_STEP},

    /* ---- with inertia: dynamic.h ---- */
    /* Stewart and Trinkle's time stepping (with the rows of design 4.8): the limit of equal springs; where that does
     * not answer one mixed LCP by Lemke's method; where that has no answer, Anitescu and Potra's form without
     * stabilisation (slide 36). */
    {.name = "dyn-lcp",
     .summary = "dynamics with rigid contact and a friction pyramid (Stewart-Trinkle)",
     .inertia = PERP_RUNG_INERTIA_FULL,
     .contact = "rigid, stabilised",
     .friction = "pyramid of rays",
     .source = "slides 19-20, 36",
     .takes = PERP_TAKES_RAYS | PERP_TAKES_TIME_SCALE,
     .own_cone = PERP_CONE_RAYS,
     .law = &perp_rigid_law,
     CONTACT_STEP},
    {.name = "dyn-ncp",
     .summary = "dynamics with rigid contact and the quadratic friction cone",
     .inertia = PERP_RUNG_INERTIA_FULL,
     .contact = "rigid",
     .friction = "quadratic cone",
     .source = "Song et al. (10), rigid",
     .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_BOX | PERP_TAKES_TIME_SCALE,
     .own_cone = PERP_CONE_QUADRATIC,
     .law = &perp_rigid_law,
     CONTACT_STEP},
    /* With room for the slip that is to be expected, so that what slides stays on the surface (convex_step_slip.c).
     * Strictly convex, so that every step has one motion. */
    {.name = "dyn-qp",
     .summary = "dynamics with convex contact: every step has one motion",
     .inertia = PERP_RUNG_INERTIA_FULL,
     .contact = "rigid",
     .friction = "Anitescu",
     .source = "Anitescu 2006",
     .takes = PERP_TAKES_RAYS | PERP_TAKES_QUADRATIC | PERP_TAKES_TIME_SCALE,
     .convex = true,
     .own_cone = PERP_CONE_RAYS,
     .law = &perp_convex_law_sliding,
     CONTACT_STEP},
    /* With `tangential: rigid` and `stiffness_scale` Dupont and Yamajako's full-order model. */
    {.name = "compliant",
     .summary = "dynamics with visco-elastic contact patches, fully implicit",
     .inertia = PERP_RUNG_INERTIA_FULL,
     .contact = "visco-elastic patches",
     .friction = "quadratic cone, smoothed by gamma",
     .source = "Song et al. (3)-(10)",
     .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_TIME_SCALE | PERP_TAKES_COMPLIANCE,
     .own_cone = PERP_CONE_QUADRATIC,
     .law = &perp_compliant_law,
     .open = perp_step_open,
     .close = perp_step_close,
     .step = perp_compliant_step,
     .look_back = perp_compliant_look_back,
     .save = perp_step_save,
     .restore = perp_step_restore},

    /* ---- at one state ---- */
    {.name = "instant",
     .summary = "accelerations and contact forces at the initial state; all solutions for small sizes",
     .inertia = PERP_RUNG_INERTIA_FULL,
     .contact = "rigid",
     .friction = "planar exact, else n rays",
     .source = "Trinkle slides 33, 37, 38",
     .takes = PERP_TAKES_RAYS,
     .own_cone = PERP_CONE_RAYS,
     .law = &perp_instant_law,
     .open = perp_step_open,
     .close = perp_step_close,
     .answer = perp_instant_accelerations,
     .answers = "acceleration"},
    {.name = "instant-qs",
     .summary = "velocities at the initial state without inertia; all solutions for rays",
     .inertia = PERP_RUNG_INERTIA_NONE,
     .contact = "rigid",
     .friction = "quadratic cone",
     .source = "Trinkle 2005 (1)-(18)",
     .takes = PERP_TAKES_QUADRATIC | PERP_TAKES_RAYS,
     .own_cone = PERP_CONE_QUADRATIC,
     .law = &perp_instant_law,
     .open = perp_step_open,
     .close = perp_step_close,
     .answer = perp_instant_velocities,
     .answers = "velocity"},
};

const char *perp_rung_inertia_name(perp_rung_inertia inertia)
{
    static const char *const names[] = {[PERP_RUNG_INERTIA_IGNORED] = "-",
                                        [PERP_RUNG_INERTIA_NONE] = "none",
                                        [PERP_RUNG_INERTIA_ONE_STEP] = "one step",
                                        [PERP_RUNG_INERTIA_FULL] = "full"};
    return names[inertia];
}

int perp_rung_count(void)
{
    return (int)(sizeof ladder / sizeof *ladder);
}

const perp_rung *perp_rung_at(int index)
{
    return &ladder[index];
}

const perp_rung *perp_rung_find(const char *name)
{
    for (int i = 0; i < perp_rung_count(); i++) {
        if (strcmp(ladder[i].name, name) == 0) {
            return &ladder[i];
        }
    }
    return NULL;
}
