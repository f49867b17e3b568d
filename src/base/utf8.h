/* utf8.h - the characters of a text that may come from anywhere. */
#ifndef PERP_SRC_BASE_UTF8_H
#define PERP_SRC_BASE_UTF8_H

#include <stdbool.h>

/* Bytes of the UTF-8 character at `text`, 0 if it is broken or cut off. */
static inline int perp_utf8_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    const int length = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2 : (c[0] & 0xf0) == 0xe0 ? 3 : 4;
    if (length == 4 && (c[0] < 0xf0 || c[0] > 0xf4)) {
        return 0;
    }
    for (int i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    const bool outside = (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf4 && c[1] > 0x8f);
    return overlong || outside ? 0 : length;
}

/* True if the whole character at `text` is a control character: C0, DEL or C1 (U+009B starts an escape sequence as ESC
 * [ does). */
static inline bool perp_utf8_is_control(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    return c[0] < 32 || c[0] == 127 || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
}

#endif
