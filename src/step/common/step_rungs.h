/* step_rungs.h - the rungs, one file each; step_registry.c puts them in order. */
#ifndef PERP_SRC_STEP_STEP_RUNGS_H
#define PERP_SRC_STEP_STEP_RUNGS_H

#include <perp/step.h>

extern const perp_rung perp_rung_geometric;
extern const perp_rung perp_rung_kinematic;
extern const perp_rung perp_rung_qs_lcp;
extern const perp_rung perp_rung_qs_ncp;
extern const perp_rung perp_rung_qs_opt;
extern const perp_rung perp_rung_qs_lp;
extern const perp_rung perp_rung_qs_impedance_lcp;
extern const perp_rung perp_rung_qs_qp;
extern const perp_rung perp_rung_qs_cone;
extern const perp_rung perp_rung_quasidynamic;
extern const perp_rung perp_rung_dyn_lcp;
extern const perp_rung perp_rung_dyn_ncp;
extern const perp_rung perp_rung_dyn_qp;
extern const perp_rung perp_rung_compliant;
extern const perp_rung perp_rung_instant;
extern const perp_rung perp_rung_instant_qs;

#endif
