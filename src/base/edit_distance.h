/* edit_distance.h - how far apart two words are. */
#ifndef PERP_SRC_BASE_EDIT_DISTANCE_H
#define PERP_SRC_BASE_EDIT_DISTANCE_H

/* Edits (insert, delete, replace, swap neighbours) that turn one word into the other, for "did you mean"; words longer
 * than 40 bytes count as 40 apart. */
int perp_edit_distance(const char *a, const char *b);

#endif
