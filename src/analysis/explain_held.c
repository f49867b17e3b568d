/* What else keeps a contact from slipping: the bodies whose contacts push along its tangent plane. */
#include "analysis/explain_flip.h"
#include "analysis/tolerances.h"

#include <math.h>

/* Can contacts move it? */
static bool is_free(const perp_model *model, int body)
{
    const int *dofs;
    const int count = perp_body_dofs(model, body, &dofs);
    for (int k = 0; k < count; k++) {
        if (model->role[dofs[k]] != PERP_DOF_PRESCRIBED) {
            return true;
        }
    }
    return false;
}

static void add(perp_explanation *x, int body)
{
    for (int i = 0; i < x->held_by_count && i < PERP_HELD_BY_MOST; i++) {
        if (x->held_by[i] == body) {
            return;
        }
    }
    if (x->held_by_count < PERP_HELD_BY_MOST) {
        x->held_by[x->held_by_count] = body;
    }
    x->held_by_count++;
}

static bool is_tied(const perp_model *model, int body)
{
    bool tied = model->links[body].joint >= 0;
    for (int i = 0; i < model->scene->loop_count; i++) {
        tied = tied || model->scene->loops[i].body_a == body || model->scene->loops[i].body_b == body;
    }
    return tied && is_free(model, body);
}

void perp_explain_held_by(const perp_model *model, const perp_contact *contact, const perp_contact_record *records,
                          int count, perp_explanation *x)
{
    const bool moves[2] = {is_free(model, contact->a), is_free(model, contact->b)};
    x->held_by_count = 0;
    x->held_by_joints = is_tied(model, contact->a) || is_tied(model, contact->b);
    for (int i = 0; i < count; i++) {
        const perp_contact *c = &records[i].contact;
        const bool a = (moves[0] && c->a == contact->a) || (moves[1] && c->a == contact->b);
        const bool b = (moves[0] && c->b == contact->a) || (moves[1] && c->b == contact->b);
        const perp_vec3 f = records[i].force_on_b;
        const perp_vec3 across = perp_vec3_add_scaled(f, -perp_vec3_dot(f, contact->normal), contact->normal);
        if (a != b && perp_vec3_norm(across) > SOLVER_LEAVES * fmax(x->fn, perp_vec3_norm(f))) {
            add(x, a ? c->b : c->a);
        }
    }
}
