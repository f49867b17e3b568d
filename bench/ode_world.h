/* ode_world.h - a spatial scene as a world of ODE's that takes steps; for bench_dynamic.
 *
 *   ours                   ODE
 *   body with mass         body at its centre of mass; shapes are geoms of it
 *   fixed body             geoms without a body
 *   revolute, prismatic    hinge, slider; their springs and dampers by stops at the command, with the CFM and ERP that
 *                          its manual gives for an implicit spring. It has no armature.
 *   fixed joint            fixed joint
 *   contact                pyramid of friction (dContactApprox1), no restitution; up to 8 a pair. It has no margin.
 *
 * What else a scene may have is left out: loops, limits, forces, drives. Commands are those of t = 0.
 */
#ifndef PERP_BENCH_ODE_WORLD_H
#define PERP_BENCH_ODE_WORLD_H

#include <perp/model.h>

typedef struct ode_world ode_world;

/* NULL: out of memory, or a shape without counterpart. */
ode_world *ode_world_open(const perp_model *model, double h);
void ode_world_close(ode_world *world); /* NULL allowed */

/* dWorldStep, or dWorldQuickStep with as many iterations as it takes by default; collisions included. Returns the
 * number of contacts. */
int ode_world_step(ode_world *world, bool quick);

/* Of the body's origin; false for bodies that have none there. */
bool ode_world_position(const ode_world *world, int body, perp_vec3 *position);

/* The deepest of the contacts of the last step, m. */
double ode_world_depth(const ode_world *world);

#endif
