/* All rates that go with the forces at hand, where one solution was found and not all: what `smallest motion` chooses
 * from (rigid_step_choice.c). They are a convex polyhedron, and a part of all solutions. */
#include "step/instant/instant_list.h"
#include "step/common/tolerances.h"

#include <string.h>

/* Entries of dictionaries that this may compute: some tenths of a second. */
static const int64_t WORK_MOST = 200000000;

typedef struct motions {
    perp_cell_table table; /* rows of the law, then rates less those at hand */
    int first_rate, n;
    const double *at; /* n: the rates at hand */
    double *weights, *size;
    int *row_exponent, *column_exponent;
    unsigned char *always;
    perp_cell_dictionary dictionary;
    int64_t work;
} motions;

static perp_polyhedron_answer farthest(void *context, const double *direction, double *x)
{
    motions *m = context;
    perp_cell_dictionary *d = &m->dictionary;
    memset(m->weights, 0, (size_t)m->n * sizeof *m->weights);
    for (int k = 0; k < m->n; k++) {
        const double *row = m->table.a + (ptrdiff_t)(m->first_rate + k) * m->n;
        const double weight = ldexp(direction[k], -m->row_exponent[m->first_rate + k]);
        for (int j = 0; j < m->n && weight != 0.0; j++) {
            m->weights[j] += weight * row[j];
        }
    }
    const perp_cell_answer answer = m->work > WORK_MOST ? PERP_CELL_TROUBLE : perp_cell_largest(d, m->weights, false);
    if (answer != PERP_CELL_YES && answer != PERP_CELL_WITHOUT_END) {
        return PERP_POLYHEDRON_TROUBLE;
    }
    for (int k = 0; k < m->n; k++) {
        const int function = m->first_rate + k;
        const double value = answer == PERP_CELL_YES ? perp_cell_value(d, function) : perp_cell_along_ray(d, function);
        x[k] = ldexp(value, -m->row_exponent[function]) + (answer == PERP_CELL_YES ? m->at[k] : 0.0);
    }
    return answer == PERP_CELL_YES ? PERP_POLYHEDRON_POINT : PERP_POLYHEDRON_RAY;
}

static void put_row(motions *m, int row, const double *a, double b, perp_cell_relation relation)
{
    memcpy(m->table.a + (ptrdiff_t)row * m->n, a, (size_t)m->n * sizeof *a);
    m->table.b[row] = b;
    m->always[row] = (unsigned char)relation;
    for (int k = 0; k < m->n; k++) {
        m->size[row] = fmax(m->size[row], fabs(a[k]));
    }
}

/* The program about the rates at hand, which meet it: what is missed is rounding. False without memory. */
static bool fill(motions *m, const cone_program *p, perp_arena *arena)
{
    const int rows = p->rows + p->equations + m->n;
    m->table = (perp_cell_table){.rows = rows, .columns = m->n};
    m->first_rate = p->rows + p->equations;
    m->table.a = perp_arena_push(arena, (size_t)rows * (size_t)m->n, sizeof(double));
    m->table.b = perp_arena_push(arena, (size_t)rows, sizeof(double));
    m->size = perp_arena_push(arena, (size_t)rows, sizeof(double));
    m->weights = perp_arena_push(arena, (size_t)m->n, sizeof(double));
    m->row_exponent = perp_arena_push(arena, (size_t)rows, sizeof(int));
    m->column_exponent = perp_arena_push(arena, (size_t)m->n, sizeof(int));
    m->always = perp_arena_push(arena, (size_t)rows, 1);
    if (!m->table.a || !m->table.b || !m->size || !m->weights || !m->row_exponent || !m->column_exponent ||
        !m->always) {
        return false;
    }
    for (int i = 0; i < p->rows; i++) {
        const double *a = p->a + (ptrdiff_t)i * m->n;
        double value = p->b[i];
        for (int k = 0; k < m->n; k++) {
            value += a[k] * m->at[k];
        }
        put_row(m, i, a, value > RATES_EQUAL ? value : 0.0, PERP_CELL_AT_LEAST);
    }
    for (int i = 0; i < p->equations; i++) {
        put_row(m, p->rows + i, p->c + (ptrdiff_t)i * m->n, 0.0, PERP_CELL_EQUAL);
    }
    for (int k = 0; k < m->n; k++) {
        memset(m->weights, 0, (size_t)m->n * sizeof *m->weights);
        m->weights[k] = 1.0;
        put_row(m, m->first_rate + k, m->weights, 0.0, PERP_CELL_ANY);
    }
    return perp_cell_dictionary_create(&m->dictionary, &m->table, &m->work, arena);
}

perp_status perp_instant_describe_motions(const perp_instant_list *list, perp_instant_solution *solution,
                                          perp_error *error)
{
    contact_step *step = list->step;
    rigid_step *s = step->own;
    perp_arena arena;
    perp_arena_init(&arena, &step->allocator);
    perp_status status = perp_rigid_motions(step, error);
    if (status != PERP_STATUS_OK) {
        return status;
    }
    motions m = {.n = s->qp.n, .at = s->point.x};
    bool whole = false;
    perp_polyhedron hull = {0};
    if (!fill(&m, &s->program, &arena)) {
        status = PERP_STATUS_OUT_OF_MEMORY;
    } else {
        perp_cell_scale(&m.table, m.size, m.row_exponent, m.column_exponent);
        const perp_cell_problem problem = {&m.table, m.always, 0, NULL};
        const perp_polyhedron_oracle oracle = {.n = m.n, .context = &m, .farthest = farthest};
        if (perp_cell_begin(&problem, &m.dictionary) == PERP_CELL_YES) {
            status = perp_polyhedron_find(&oracle, m.at, &arena, &hull, &whole);
        }
    }
    if (status == PERP_STATUS_OK && whole && hull.dimensions > 0) {
        status = perp_instant_describe(list, solution, &hull, s->speed, NULL, error);
    } else if (status == PERP_STATUS_OUT_OF_MEMORY) {
        status = perp_fail(error, status, "out of memory for the motions of an instant");
    }
    perp_arena_clear(&arena);
    return status;
}
