/* perp/yaml.h - what all readers of YAML text (JSON is YAML) have in common: limits, so that no file can make them
 * recurse without bound or take unbounded memory. Beyond a limit reading fails with an error. */
#ifndef PERP_YAML_H
#define PERP_YAML_H

#include <perp/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PERP_YAML_MAX_BYTES = 16 << 20, /* of one file */
    PERP_YAML_MAX_NODES = 1000000,  /* of one input, aliases expanded, includes and settings included */
    PERP_YAML_MAX_DEPTH = 32,
    PERP_YAML_MAX_ANCHORS = 1000 /* of one file */
};

/* The version of libyaml that is used; a string constant. */
PERP_API const char *perp_yaml_version(void);

#ifdef __cplusplus
}
#endif
#endif
