/* step_memory.h - what a rung remembers from step to step, as a row of numbers that a log can keep: written by counting
 * on where there is no room, read back with every number checked, since a file may say anything. */
#ifndef PERP_SRC_STEP_STEP_MEMORY_H
#define PERP_SRC_STEP_STEP_MEMORY_H

#include <perp/contact.h>

typedef struct memory_writer {
    double *numbers;
    size_t capacity, count; /* count goes on beyond the capacity */
} memory_writer;

static inline void perp_memory_put(memory_writer *w, double number)
{
    if (w->count < w->capacity) {
        w->numbers[w->count] = number;
    }
    w->count++;
}

static inline void perp_memory_put_reals(memory_writer *w, const double *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        perp_memory_put(w, numbers[i]);
    }
}

typedef struct memory_reader {
    const double *numbers;
    size_t count, at;
    bool good; /* false from the first number on that was missing or out of its range */
    bool out_of_memory;
} memory_reader;

static inline double perp_memory_take(memory_reader *r)
{
    r->good = r->good && r->at < r->count && isfinite(r->numbers[r->at]);
    return r->good ? r->numbers[r->at++] : 0.0;
}

static inline int perp_memory_take_int(memory_reader *r, int low, int high)
{
    const double number = perp_memory_take(r);
    r->good = r->good && number == floor(number) && number >= low && number <= high;
    return r->good ? (int)number : low;
}

static inline void perp_memory_take_reals(memory_reader *r, double *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        numbers[i] = perp_memory_take(r);
    }
}

/* Which contact it is: what perp_contact_compare_pairs and the features look at; nothing else of it comes back. */
void perp_memory_put_contact(memory_writer *w, const perp_contact *contact);
perp_contact perp_memory_take_contact(memory_reader *r);

#endif
