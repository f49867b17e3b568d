#include "solver/slack_kernel.h"

#include "linalg/dense_kernel.h"

#include <math.h>
#include <stdint.h>

typedef int64_t wide_mask __attribute__((vector_size(32)));

#define LOAD(x) (*(const perp_wide *)(x))
#define STORE(x, v) (*(perp_wide *)(x) = (v))
/* a where the mask is set, else b */
#define CHOOSE(mask, a, b) ((perp_wide)(((mask) & (wide_mask)(a)) | (~(mask) & (wide_mask)(b))))

#define TARGET
#define NAMED(name) name##_plain
#include "solver/slack_kernel.inc"
#undef TARGET
#undef NAMED

const perp_slack_kernel perp_slack_plain_kernel = {dot_plain,    largest_plain, divide_plain, predict_plain,
                                                   follow_plain, correct_plain, add_plain,    step_plain,
                                                   mix_plain,    advance_plain, settle_plain, slope_plain};

#if defined(__x86_64__) && defined(__GNUC__)
#define TARGET __attribute__((target("avx2")))
#define NAMED(name) name##_avx2
#include "solver/slack_kernel.inc"
#undef TARGET
#undef NAMED

const perp_slack_kernel *perp_slack_best_kernel(void)
{
    static const perp_slack_kernel avx2 = {dot_avx2, largest_avx2, divide_avx2, predict_avx2, follow_avx2, correct_avx2,
                                           add_avx2, step_avx2,    mix_avx2,    advance_avx2, settle_avx2, slope_avx2};
    return __builtin_cpu_supports("avx2") ? &avx2 : &perp_slack_plain_kernel;
}
#else
const perp_slack_kernel *perp_slack_best_kernel(void)
{
    return &perp_slack_plain_kernel;
}
#endif
