/* The supernodal L D L', and which version of its kernel is used.
 *
 * A panel holds L' by rows, so that the inner loops run along contiguous rows and a sum over pivots stays in registers:
 * no loop is a dot product but for the back substitution. Pivots are taken PERP_KKT_ROWS at a time; t = D l of those is
 * kept, negative, in `below`. */
#include "linalg/dense_kernel.h"
#include "solver/contact_kkt.h"
#include "solver/tolerances.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Pivot k of a panel. What the inverse holds until now is the entry before this panel's own rows were taken off,
 * `floor` what it was before any were: a pivot that is nothing but their rounding, or has the wrong sign, belongs to a
 * direction that the matrix does not see (rows of C that depend on each other, say). It gets an infinite pivot: nothing
 * moves along it. The entry of an equation begins near 0, so what counts for it is what unknowns in this panel made of
 * it. */
static inline void take_pivot(perp_kkt *kkt, int first, const double *panel, int rows, int k)
{
    const double floor = kkt->floor[first + k], before = fabs(kkt->inverse[first + k]);
    const double pivot = panel[(ptrdiff_t)k * rows + k];
    double size = before > fabs(floor) ? before : fabs(floor);
    for (int m = 0; floor < 0.0 && m < k; m++) {
        const double l = panel[(ptrdiff_t)m * rows + k];
        size += l * l * fabs(panel[(ptrdiff_t)m * rows + m]);
    }
    const double least = PIVOT_BELIEVED * size;
    const bool believed = floor > 0.0 ? pivot > least : pivot < -least;
    kkt->mended += !believed;
    kkt->inverse[first + k] = believed || pivot != pivot ? 1.0 / pivot : 0.0; /* NaN goes on to the solution */
}

typedef perp_kkt_product product;

/* Whether an Omega of contacts `begin` .. `end` - 1 is not zero: being semidefinite, it has a diagonal then. Of an
 * active set most are zero. */
static inline bool has_weight(const perp_contact_qp *problem, int begin, int end, const double *omega)
{
    for (int i = begin; i < end; i++) {
        const int rows = problem->row_start[i + 1] - problem->row_start[i];
        for (int r = 0; r < rows; r++) {
            if (omega[(ptrdiff_t)r * (rows + 1)] != 0.0) {
                return true;
            }
        }
        omega += (ptrdiff_t)rows * rows;
    }
    return false;
}

static inline bool have_three_rows(const perp_contact_qp *problem, int begin, int end)
{
    bool other = false;
    for (int i = begin; i < end; i++) {
        other |= problem->row_start[i + 1] - problem->row_start[i] != 3;
    }
    return !other;
}

#define TARGET
#define WIDE_REGISTERS 0
#define NAMED(name) name##_plain
#include "solver/contact_kkt_kernel.inc"
#undef TARGET
#undef WIDE_REGISTERS
#undef NAMED

const perp_kkt_kernel perp_kkt_plain_kernel = {assemble_plain, factor_plain,        solve_plain,    add_product_plain,
                                               combine_plain,  weigh_squares_plain, pack_four_plain};

#if defined(__x86_64__) && defined(__GNUC__)
#define TARGET __attribute__((target("avx2")))
#define WIDE_REGISTERS 1
#define NAMED(name) name##_avx2
#include "solver/contact_kkt_kernel.inc"
#undef TARGET
#undef WIDE_REGISTERS
#undef NAMED

const perp_kkt_kernel *perp_kkt_best_kernel(void)
{
    static const perp_kkt_kernel avx2 = {assemble_avx2, factor_avx2,        solve_avx2,    add_product_avx2,
                                         combine_avx2,  weigh_squares_avx2, pack_four_avx2};
    return __builtin_cpu_supports("avx2") ? &avx2 : &perp_kkt_plain_kernel;
}
#else
const perp_kkt_kernel *perp_kkt_best_kernel(void)
{
    return &perp_kkt_plain_kernel;
}
#endif

void perp_kkt_assemble(perp_kkt *kkt, const perp_contact_qp *problem, const double *omega, const double *diagonal)
{
    kkt->kernel->assemble(kkt, problem, omega, diagonal);
}

void perp_kkt_factor(perp_kkt *kkt)
{
    kkt->kernel->factor(kkt);
}

void perp_kkt_solve(perp_kkt *kkt, double *rhs)
{
    kkt->kernel->solve(kkt, rhs);
}
