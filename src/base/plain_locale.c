#include "base/plain_locale.h"

bool perp_plain_locale_open(perp_plain_locale *guard)
{
    guard->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    guard->before = (locale_t)0;
    return guard->plain != (locale_t)0;
}

void perp_plain_locale_close(perp_plain_locale *guard)
{
    if (guard->plain) {
        freelocale(guard->plain);
        guard->plain = (locale_t)0;
    }
}

void perp_plain_locale_enter(perp_plain_locale *guard)
{
    guard->before = uselocale(guard->plain);
}

void perp_plain_locale_leave(perp_plain_locale *guard)
{
    uselocale(guard->before);
}
