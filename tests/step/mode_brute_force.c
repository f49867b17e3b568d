#include "mode_brute_force.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { GENERATORS = BRUTE_CONTACTS * BRUTE_CORNERS, ROWS = 3 * BRUTE_CONTACTS };

static const double ROUNDING = 1e-11, ZERO = 1e-9, NEAR_ZERO = 1e-6, PI = 3.141592653589793;

typedef struct generator {
    int contact;
    double along[6];
} generator;

typedef struct trial {
    const brute_problem *p;
    brute_answer *answer;
    int modes[BRUTE_CONTACTS];
    int generator_count, row_count;
    generator generators[GENERATORS];
    double rows[ROWS][6]; /* of accelerations that are to be 0 */
    int chosen[6], chosen_count;
} trial;

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

static bool slides(const brute_contact *c)
{
    return c->slip[0] != 0.0 || c->slip[1] != 0.0;
}

static int corner_count(const brute_problem *p, const brute_contact *c)
{
    return c->directions == 1 ? 2 : p->rays;
}

/* d_j of the polygon, along the friction directions. */
static void corner(const brute_problem *p, const brute_contact *c, int j, double d[2])
{
    const int count = corner_count(p, c);
    d[0] = c->directions == 1 ? (j % 2 == 0 ? 1.0 : -1.0) : cos(2 * PI * j / count);
    d[1] = c->directions == 1 ? 0.0 : sin(2 * PI * j / count);
}

/* Modes: 0 open; of what slides, 1: pressed on; else 1: sticks, then the corners, then in space the edges. */
static int mode_count(const brute_problem *p, const brute_contact *c)
{
    const int corners = corner_count(p, c);
    return slides(c) || c->mu == 0.0 ? 2 : 2 + corners + (c->directions == 2 ? corners : 0);
}

/* Whether friction of that mode may be in corner j. */
static bool allows(const brute_problem *p, const brute_contact *c, int mode, int j)
{
    const int corners = corner_count(p, c);
    return mode == 1 || mode == 2 + j || (mode >= 2 + corners && (j - (mode - 2 - corners) + corners) % corners < 2);
}

/* ---- what a choice of modes asks ----------------------------------------------------------------------------------
 */

static void add_generator(trial *t, int i, const double d[2])
{
    const brute_contact *c = &t->p->contacts[i];
    generator *g = &t->generators[t->generator_count++];
    g->contact = i;
    for (int k = 0; k < 6; k++) {
        g->along[k] = c->row[0][k] + c->mu * (d[0] * c->row[1][k] + d[1] * c->row[2][k]);
    }
}

static void add_zero(trial *t, int i, double n, double x, double y)
{
    const brute_contact *c = &t->p->contacts[i];
    for (int k = 0; k < 6; k++) {
        t->rows[t->row_count][k] = n * c->row[0][k] + x * c->row[1][k] + y * c->row[2][k];
    }
    t->row_count++;
}

static void ask(trial *t, int i, int mode)
{
    const brute_contact *c = &t->p->contacts[i];
    const int corners = corner_count(t->p, c);
    double d[2], e[2];
    if (mode == 0) {
        return;
    }
    add_zero(t, i, 1, 0, 0);
    if (slides(c) || c->mu == 0.0) {
        const double size = hypot(c->slip[0], c->slip[1]), back[2] = {-c->slip[0] / size, -c->slip[1] / size};
        add_generator(t, i, slides(c) ? back : (const double[2]){0, 0});
        return;
    }
    for (int j = 0; j < corners; j++) {
        corner(t->p, c, j, d);
        if (allows(t->p, c, mode, j)) {
            add_generator(t, i, d);
        }
    }
    for (int r = 0; r < c->directions && mode == 1; r++) {
        add_zero(t, i, 0, r == 0, r == 1);
    }
    if (mode >= 2 + corners) { /* both ends of the edge brake alike */
        corner(t->p, c, mode - 2 - corners, d);
        corner(t->p, c, mode - 1 - corners, e);
        add_zero(t, i, 0, d[0] - e[0], d[1] - e[1]);
    }
}

/* What is to be above 0 for this mode and no more inclusive one, least first; INFINITY: nothing. */
static double strictly(const trial *t, int i, const double *a)
{
    const brute_contact *c = &t->p->contacts[i];
    const int mode = t->modes[i], corners = corner_count(t->p, c), n = t->p->n;
    if (mode == 0) {
        return dot(n, c->row[0], a);
    }
    if (mode == 1) {
        return INFINITY;
    }
    const double u[2] = {dot(n, c->row[1], a), dot(n, c->row[2], a)};
    double own = 0.0, least = INFINITY, d[2];
    for (int j = 0; j < corners; j++) {
        corner(t->p, c, j, d);
        own = allows(t->p, c, mode, j) ? -(d[0] * u[0] + d[1] * u[1]) : own;
    }
    for (int j = 0; j < corners; j++) { /* others brake less */
        corner(t->p, c, j, d);
        least = allows(t->p, c, mode, j) ? least : fmin(least, own + d[0] * u[0] + d[1] * u[1]);
    }
    return least;
}

/* ---- one subset of generators -------------------------------------------------------------------------------------
 */

/* Gauss-Jordan with complete pivoting on rows x (columns + 1); the rank of the columns. */
static int eliminate(int rows, int columns, double a[][7], int *place)
{
    bool used[ROWS] = {false};
    for (int step = 0; step < columns; step++) {
        int row = -1, column = -1;
        double largest = ZERO;
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns && !used[i]; j++) {
                if (fabs(a[i][j]) > largest) {
                    largest = fabs(a[i][j]);
                    row = i;
                    column = j;
                }
            }
        }
        if (row < 0) {
            return step;
        }
        used[row] = true;
        place[column] = row;
        for (int i = 0; i < rows; i++) {
            const double factor = i == row ? 0.0 : a[i][column] / a[row][column];
            for (int j = 0; j <= columns; j++) {
                a[i][j] -= factor * a[row][j];
            }
        }
    }
    return columns;
}

static bool are_independent(const trial *t)
{
    double a[ROWS][7] = {{0}};
    int place[6];
    for (int k = 0; k < t->p->n; k++) {
        for (int j = 0; j < t->chosen_count; j++) {
            a[k][j] = t->generators[t->chosen[j]].along[k];
        }
    }
    return eliminate(t->p->n, t->chosen_count, a, place) == t->chosen_count;
}

/* The generators' weights; false: none are right, or they are not unique, which is noted. */
static bool find_weights(trial *t, double *weights)
{
    const brute_problem *p = t->p;
    double a[ROWS][7] = {{0}};
    int place[6];
    for (int i = 0; i < t->row_count; i++) {
        for (int k = 0; k < p->n; k++) {
            for (int j = 0; j < t->chosen_count; j++) {
                a[i][j] += t->rows[i][k] * t->generators[t->chosen[j]].along[k] / p->mass[k];
            }
            a[i][t->chosen_count] += t->rows[i][k] * p->load[k] / p->mass[k];
        }
    }
    const bool unique = eliminate(t->row_count, t->chosen_count, a, place) == t->chosen_count;
    double off = 0.0;
    for (int i = 0; i < t->row_count; i++) { /* rows without an unknown are to be 0 */
        double largest = 0.0;
        for (int j = 0; j < t->chosen_count; j++) {
            largest = fmax(largest, fabs(a[i][j]));
        }
        off = largest > ZERO ? off : fmax(off, fabs(a[i][t->chosen_count]));
    }
    for (int j = 0; j < t->chosen_count && unique; j++) {
        weights[j] = -a[place[j]][t->chosen_count] / a[place[j]][j];
    }
    t->answer->unclear = t->answer->unclear || (!unique && off < NEAR_ZERO) || (off > ZERO && off < NEAR_ZERO);
    return unique && off <= ZERO;
}

static brute_solution *find(brute_answer *answer, int n, const double *a)
{
    for (int i = 0; i < answer->count; i++) {
        double off = 0.0;
        for (int k = 0; k < n; k++) {
            off = fmax(off, fabs(a[k] - answer->solutions[i].a[k]) / (1.0 + fabs(a[k])));
        }
        if (off < NEAR_ZERO) {
            return &answer->solutions[i];
        }
    }
    assert(answer->count < BRUTE_SOLUTIONS);
    brute_solution *s = &answer->solutions[answer->count++];
    memcpy(s->a, a, (size_t)n * sizeof *a);
    for (int i = 0; i < BRUTE_CONTACTS; i++) {
        s->least[i] = INFINITY;
        s->most[i] = 0.0;
    }
    return s;
}

/* An answer, if no weight is below 0 and every contact is where its mode says; `margin` is how clear that is. */
static void judge(trial *t)
{
    const brute_problem *p = t->p;
    double weights[6], a[6], fn[BRUTE_CONTACTS] = {0}, margin = INFINITY;
    if (!are_independent(t) || !find_weights(t, weights)) {
        return;
    }
    for (int k = 0; k < p->n; k++) {
        a[k] = p->load[k] / p->mass[k];
        for (int j = 0; j < t->chosen_count; j++) {
            a[k] += weights[j] * t->generators[t->chosen[j]].along[k] / p->mass[k];
        }
    }
    for (int j = 0; j < t->chosen_count; j++) {
        margin = fmin(margin, weights[j]);
        fn[t->generators[t->chosen[j]].contact] += weights[j];
    }
    for (int i = 0; i < p->contact_count; i++) {
        margin = fmin(margin, strictly(t, i, a));
    }
    /* What is 0 but for rounding is so by the modes: rates of 0, a generator that is not needed. */
    t->answer->unclear = t->answer->unclear || (fabs(margin) > ROUNDING && fabs(margin) < NEAR_ZERO);
    if (margin < NEAR_ZERO) {
        return;
    }
    brute_solution *s = find(t->answer, p->n, a);
    for (int i = 0; i < p->contact_count; i++) {
        s->least[i] = fmin(s->least[i], fn[i]);
        s->most[i] = fmax(s->most[i], fn[i]);
    }
}

/* All subsets of the generators from `from` on, with those chosen. */
static void choose(trial *t, int from)
{
    judge(t);
    for (int g = from; g < t->generator_count && t->chosen_count < t->p->n; g++) {
        t->chosen[t->chosen_count++] = g;
        choose(t, g + 1);
        t->chosen_count--;
    }
}

static void try_modes(trial *t, int contact)
{
    if (contact == t->p->contact_count) {
        choose(t, 0);
        return;
    }
    for (int mode = 0; mode < mode_count(t->p, &t->p->contacts[contact]); mode++) {
        const int generators = t->generator_count, rows = t->row_count;
        t->modes[contact] = mode;
        ask(t, contact, mode);
        try_modes(t, contact + 1);
        t->generator_count = generators;
        t->row_count = rows;
    }
}

void brute_force_modes(const brute_problem *problem, brute_answer *answer)
{
    trial t = {.p = problem, .answer = answer};
    *answer = (brute_answer){.count = 0};
    try_modes(&t, 0);
}
