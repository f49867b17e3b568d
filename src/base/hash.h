/* hash.h - feeding a perp_hash: doubles and bytes in order. */
#ifndef PERP_SRC_BASE_HASH_H
#define PERP_SRC_BASE_HASH_H

#include <perp/base.h>

perp_hash perp_hash_begin(void);
void perp_hash_reals(perp_hash *hash, const double *values, size_t count);
void perp_hash_bytes(perp_hash *hash, const void *bytes, size_t count);

#endif
