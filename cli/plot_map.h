/* plot_map.h - the part of `perp plot` that draws tables instead of logs. */
#ifndef PERP_CLI_PLOT_MAP_H
#define PERP_CLI_PLOT_MAP_H

#include "cli.h"

/* --map was given. The size is that of --size, 0: what suits. */
int cli_plot_map(const cli_arguments *arguments, int width, int height);

#endif
