/* contact_islands.c - which bodies can act on one another in a step. */
#include "geometry/islands.h"
#include "contact/contact_private.h"
#include "scene/loop_links.h"

int perp_contact_islands(perp_contact_set *set, double gap, int *island_of_body)
{
    struct perp_contact_set_memory *m = set->memory;
    const perp_contact_model *cm = m->contact_model;
    const perp_scene *scene = cm->model->scene;
    perp_index_pair *touching = m->touching;
    int count = 0;
    for (int i = 0; i < set->count; i++) {
        const perp_contact *c = &m->contacts[i];
        const bool again = count > 0 && touching[count - 1].a == c->a && touching[count - 1].b == c->b;
        if (c->phi <= gap && !again) {
            touching[count++] = (perp_index_pair){c->a, c->b};
        }
    }
    for (int j = 0; j < scene->joint_count; j++) {
        touching[count++] = (perp_index_pair){scene->joints[j].parent_body, scene->joints[j].child_body};
    }
    for (int l = 0; l < scene->loop_count; l++) {
        for (int k = 0; k < perp_loop_link_count(&scene->loops[l]); k++, count++) {
            perp_loop_link(scene, &scene->loops[l], k, &touching[count].a, &touching[count].b);
        }
    }
    return perp_islands_find(scene->body_count, cm->moves, touching, count, m->island_starts, m->island_bodies,
                             island_of_body);
}
