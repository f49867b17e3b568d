#include "solver/slack_kernel.h"

#include "linalg/dense_kernel.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

typedef int64_t wide_mask __attribute__((vector_size(32)));

#define LOAD(x) (*(const perp_wide *)(x))
#define STORE(x, v) (*(perp_wide *)(x) = (v))
/* a where the mask is set, else b */
#define CHOOSE(mask, a, b) ((perp_wide)(((mask) & (wide_mask)(a)) | (~(mask) & (wide_mask)(b))))

/* One entry of each of four cones of three rows. */
#define GATHER(x) ((perp_wide){(x)[0], (x)[3], (x)[6], (x)[9]})
#define SCATTER(x, v) ((x)[0] = (v)[0], (x)[3] = (v)[1], (x)[6] = (v)[2], (x)[9] = (v)[3])

#define ROOT(v) ((perp_wide){sqrt((v)[0]), sqrt((v)[1]), sqrt((v)[2]), sqrt((v)[3])})
#define TARGET
#define NAMED(name) name##_plain
#include "solver/slack_kernel.inc"
#undef ROOT
#undef TARGET
#undef NAMED

const perp_slack_kernel perp_slack_plain_kernel = {
    dot_plain,           largest_plain,      divide_plain, predict_plain, follow_plain,      correct_plain,
    add_plain,           step_plain,         mix_plain,    advance_plain, scale_cones_plain, subtract_cones_plain,
    correct_cones_plain, inside_cones_plain, settle_plain, slope_plain};

#if defined(__x86_64__) && defined(__GNUC__)
#define ROOT(v) ((perp_wide)_mm256_sqrt_pd((__m256d)(v)))
#define TARGET __attribute__((target("avx2")))
#define NAMED(name) name##_avx2
#include "solver/slack_kernel.inc"
#undef ROOT
#undef TARGET
#undef NAMED

const perp_slack_kernel *perp_slack_best_kernel(void)
{
    static const perp_slack_kernel avx2 = {dot_avx2,           largest_avx2,      divide_avx2,      predict_avx2,
                                           follow_avx2,        correct_avx2,      add_avx2,         step_avx2,
                                           mix_avx2,           advance_avx2,      scale_cones_avx2, subtract_cones_avx2,
                                           correct_cones_avx2, inside_cones_avx2, settle_avx2,      slope_avx2};
    return __builtin_cpu_supports("avx2") ? &avx2 : &perp_slack_plain_kernel;
}
#else
const perp_slack_kernel *perp_slack_best_kernel(void)
{
    return &perp_slack_plain_kernel;
}
#endif
