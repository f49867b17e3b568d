/* tolerances.h - every tolerance of report. Each has its unit first, then what it decides and where it comes from. They
 * decide what is drawn only. */
#ifndef PERP_SRC_REPORT_TOLERANCES_H
#define PERP_SRC_REPORT_TOLERANCES_H

/* ---- axes: how far one reaches at least, so that noise is not blown up to fill it -------------------------------- */

/* of the values' middle, or of the largest of the run: what differs by less is shown as a flat line. */
static const double SPAN_LEAST = 1e-3;
/* s, m (or rad): the same of times and of coordinates of joints or gaps, where there is nothing to compare with. */
static const double SPAN_OF_TIME = 1e-3, SPAN_OF_LENGTH = 1e-6;
/* J: the same of energies. */
static const double SPAN_OF_ENERGY = 1e-9;
/* m or N/m: the same of pressure under a contact, whose cell has a size of its own. */
static const double SPAN_OF_PATCH = 1e-9;
/* m: a longest gap below this is rounding. */
static const double GAP_ROUNDING = 1e-12;
/* none, m: residuals of the law and errors of geometry are drawn on a logarithmic axis that begins here (zeros are put
 * there) and ends at the second pair or higher: below rounding, and what a run usually is allowed. */
static const double LAW_FLOOR = 1e-18, GEOMETRY_FLOOR = 1e-15, LAW_TOP = 1e-8, GEOMETRY_TOP = 1e-6;
/* of a step between ticks, or of a decade: a tick that rounding puts beyond the end is at the end. */
static const double TICK_ROUNDING = 1e-9;

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

/* none, a cosine: a face that is as near to edge-on is not drawn, and is in front of nothing. */
static const double EDGE_ON = 1e-9;
/* m: a scene that is smaller has no size, and is shown a millimetre wide. */
static const double NO_SIZE = 1e-9, HALF_MILLIMETRE = 5e-4;
/* m: the least cell of a pressure field, and the least coordinate that points of a replay are rounded relative to. */
static const double REPLAY_LEAST = 1e-9;
/* of the number: friction, or its limit, that differs from |ft|, or mu fn, by less is the same; a page has six figures.
 */
static const double REPLAY_SAME = 1e-9;

#endif
