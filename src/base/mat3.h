/* mat3.h - more of 3 x 3 matrices than perp/base.h has. */
#ifndef PERP_SRC_BASE_MAT3_H
#define PERP_SRC_BASE_MAT3_H

#include <perp/base.h>

perp_mat3 perp_mat3_transpose(const perp_mat3 *a);
/* Eigenvalues (ascending) of a symmetric matrix, and its eigenvectors as the columns of `vectors` (may be NULL), by
 * cyclic Jacobi rotations. Only the upper triangle is read. */
void perp_mat3_symmetric_eigen(const perp_mat3 *a, double values[3], perp_mat3 *vectors);

#endif
