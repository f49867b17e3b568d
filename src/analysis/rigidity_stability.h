/* rigidity_stability.h - do forces at compliant contacts settle, as the rigid model takes for granted?
 *
 * With springs K and dampers C at the contacts the fast motion y of the gaps (and of what rolling contacts give along
 * their tangents) is, on the scale on which bodies do not move,
 *
 *     y'' + A (C y' + K y) = 0
 *
 * Dupont and Yamajako's (28), where K = k I and C = c I; A as rigidity_matrix.h has it. Where C = beta K, with sigma =
 * a
 * + i b an eigenvalue of A K, it is exponentially stable where for each of them
 *
 *     a > 0,    beta^2 a (a^2 + b^2) > b^2
 *
 * which with K = k I is their (35): kappa a |lambda|^2 > b^2, kappa = c^2 / k, of the eigenvalues of A. Other K and C
 * are judged by the eigenvalues s of [[0, I], [-A K, -A C]]. Rows of G may depend on each other: y then stays in its
 * range, and only there is asked.
 *
 * A contact that slides has deformations along the surface too, which its friction alone moves: they matter only where
 * K couples them with the normal one. With C = beta K they are gone after exp(-t / beta) but for the part that goes
 * with the normal deformation, which leaves a stiffness of
 *
 *     k = K_nn - K_nt (K_tt + mu a K_nt)^-1 (K_tn + mu a K_nn),    a: the way it slides */
#ifndef PERP_SRC_ANALYSIS_RIGIDITY_STABILITY_H
#define PERP_SRC_ANALYSIS_RIGIDITY_STABILITY_H

#include "analysis/rigidity_matrix.h"

typedef enum rigidity_stable {
    RIGIDITY_UNSTABLE,
    RIGIDITY_MARGINAL, /* rounding decides */
    RIGIDITY_UNDAMPED, /* no damper: forces ring on, and neither grow nor decay */
    RIGIDITY_STABLE
} rigidity_stable;

typedef struct rigidity_boundary_layer {
    int n;                 /* rows of y */
    int independent;       /* the rank of G */
    double *ak, *ac;       /* independent x independent: A K, A C on the range of G */
    bool undecided;        /* a contact slides whose K or C couples n and t, and these are not in proportion */
    double kappa;          /* kg: (sum of c)^2 / (count times sum of k) over normals, c^2 / k where all are alike */
    double mean_stiffness; /* N/m, of normals */
    bool proportional;     /* C = beta K */
    double beta;           /* s */
    /* result */
    rigidity_stable stable;
    bool has_kappa_min;
    double kappa_min; /* all dampers scaled alike until kappa is this: the smallest that is stable; 0: any will do */
    double growth;    /* 1/s, of the fastest growing or slowest decaying solution */
    double frequency; /* rad/s, of it */
} rigidity_boundary_layer;

/* Sets it up from rows that what is held was taken away from. OUT_OF_MEMORY. */
perp_status perp_boundary_layer_make(analysis_point *point, const rigidity_matrix *m, rigidity_boundary_layer *layer,
                                     perp_error *error);
/* Fills the results. NOT_CONVERGED where eigenvalues are not found; OUT_OF_MEMORY. */
perp_status perp_boundary_layer_judge(analysis_point *point, rigidity_boundary_layer *layer, perp_error *error);
/* Is the contact's tangential part rigid? */
bool perp_boundary_layer_is_rigid_along(const analysis_point *point, const rigidity_contact *contact);

#endif
