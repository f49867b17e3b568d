/* plain_locale.h - numbers have a decimal point whatever the program's locale says: while entered, this thread's locale
 * is "C". */
#ifndef PERP_SRC_BASE_PLAIN_LOCALE_H
#define PERP_SRC_BASE_PLAIN_LOCALE_H

#include <locale.h>
#include <stdbool.h>

typedef struct perp_plain_locale {
    locale_t plain, before;
} perp_plain_locale;

/* False when out of memory; closing is harmless either way. */
bool perp_plain_locale_open(perp_plain_locale *guard);
void perp_plain_locale_close(perp_plain_locale *guard);
/* Between open and close, in pairs, on one thread. */
void perp_plain_locale_enter(perp_plain_locale *guard);
void perp_plain_locale_leave(perp_plain_locale *guard);

#endif
