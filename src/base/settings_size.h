/* settings_size.h - the check of the member `size` of what callers fill. */
#ifndef PERP_SRC_BASE_SETTINGS_SIZE_H
#define PERP_SRC_BASE_SETTINGS_SIZE_H

#include <perp/base.h>

/* OK, or BAD_INPUT with an error that names the struct. */
perp_status perp_check_size(const char *name, size_t size, size_t expected, perp_error *error);
#define PERP_CHECK_SIZE(type, settings, error) perp_check_size(#type, (settings)->size, sizeof(type), (error))

#endif
