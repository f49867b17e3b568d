#include "lcp_generator.h"

#include <perp/base.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONTACTS = 100, MAX_RAYS = 8, MAX_BODIES = 50, GROUND = -1 };

static const double TWO_PI = 6.283185307179586;

typedef struct body {
    int parent;     /* an earlier body, or the ground: what this one leans on */
    perp_vec3 away; /* unit, from the parent to this body, whose surfaces meet on that line */
    perp_vec3 position;
    perp_mat3 inverse_inertia; /* world axes; in the plane only the entry of z is not zero */
    double inverse_mass, size;
    double v0[6], u[6]; /* free velocity, and that of the proof: linear, angular */
} body;

/* `a` may be the ground; the normal points from a to b. */
typedef struct contact {
    int a, b;
    int twin; /* the contact that this is a copy of in every respect, or -1 */
    perp_vec3 point, normal;
    double mu, gap_rate;
} contact;

/* One row of the Jacobian: the velocity along a direction at a contact, and what a unit impulse does to the bodies. */
typedef struct row {
    int bodies[2];
    double j[2][6], response[2][6];
} row;

typedef struct lcp_scene {
    int body_count;
    body bodies[MAX_BODIES];
    contact contacts[MAX_CONTACTS];
    row rows[MAX_CONTACTS * (1 + MAX_RAYS)]; /* all normals, then all rays, contact by contact */
} lcp_scene;

lcp_case *lcp_case_create(void)
{
    lcp_case *c = calloc(1, sizeof *c);
    if (c) {
        c->scene = calloc(1, sizeof *c->scene);
        c->m = calloc((size_t)LCP_CASE_MAX_N * LCP_CASE_MAX_N, sizeof *c->m);
        c->q = calloc(LCP_CASE_MAX_N, sizeof *c->q);
    }
    if (c && (!c->scene || !c->m || !c->q)) {
        lcp_case_free(c);
        c = NULL;
    }
    return c;
}

void lcp_case_free(lcp_case *c)
{
    if (c) {
        free(c->scene);
        free(c->m);
        free(c->q);
        free(c);
    }
}

const char *lcp_family_name(lcp_family family)
{
    static const char *const names[LCP_FAMILY_COUNT] = {"pile", "faces", "wedge"};
    return names[family];
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

static double uniform(perp_random *r, double low, double high)
{
    return perp_random_uniform(r, low, high);
}

static int below(perp_random *r, int count)
{
    return (int)(perp_random_bits(r) % (uint64_t)count);
}

static bool happens(perp_random *r, double probability)
{
    return uniform(r, 0.0, 1.0) < probability;
}

/* In the unit ball (disc), not zero. */
static perp_vec3 random_vector(perp_random *r, bool planar)
{
    for (;;) {
        const double x = uniform(r, -1, 1), y = uniform(r, -1, 1), z = planar ? 0.0 : uniform(r, -1, 1);
        const double square = x * x + y * y + z * z;
        if (square <= 1.0 && square > 1e-4) {
            return perp_vec3_make(x, y, z);
        }
    }
}

static perp_vec3 up(bool planar)
{
    return planar ? perp_vec3_make(0, 1, 0) : perp_vec3_make(0, 0, 1);
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

static void make_inertia(body *b, perp_random *r, bool planar)
{
    perp_mat3 diagonal = {{0}};
    if (planar) {
        diagonal.m[8] = b->inverse_mass / (b->size * b->size * uniform(r, 0.2, 0.6));
        b->inverse_inertia = diagonal;
        return;
    }
    double sides[3];
    for (int k = 0; k < 3; k++) {
        sides[k] = b->size * uniform(r, 0.3, 1.0);
    }
    for (int k = 0; k < 3; k++) { /* of a box */
        const double p = sides[(k + 1) % 3], o = sides[(k + 2) % 3];
        diagonal.m[4 * k] = 12.0 * b->inverse_mass / (4.0 * (p * p + o * o));
    }
    const perp_mat3 rotation = perp_quat_to_mat3(perp_quat_exp(perp_vec3_scale(3.0, random_vector(r, false))));
    b->inverse_inertia = perp_mat3_turn(&rotation, &diagonal);
}

static void random_twist(perp_random *r, bool planar, double speed, double size, double twist[6])
{
    const perp_vec3 v = perp_vec3_scale(speed, random_vector(r, planar));
    perp_vec3 w = perp_vec3_scale(speed / size, random_vector(r, false));
    if (planar) {
        w.x = w.y = 0.0;
    }
    const double values[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    memcpy(twist, values, sizeof values);
}

/* Next to its parent, so that lever arms are no longer than bodies are large. */
static void place(const lcp_case *c, int i, perp_random *r)
{
    lcp_scene *s = c->scene;
    body *b = &s->bodies[i];
    b->parent = c->family == LCP_FAMILY_PILE ? below(r, i + 1) - 1 : i - 1;
    if (c->family == LCP_FAMILY_FACES && happens(r, 0.3)) {
        b->parent = GROUND;
    }
    b->away = up(c->planar);
    if (b->parent == GROUND) {
        b->position = perp_vec3_scale(0.5, random_vector(r, c->planar));
        return;
    }
    if (c->family == LCP_FAMILY_PILE) {
        b->away = perp_vec3_normalise(perp_vec3_add_scaled(b->away, 1.5, random_vector(r, c->planar)));
    }
    const body *parent = &s->bodies[b->parent];
    b->position = perp_vec3_add_scaled(parent->position, parent->size + b->size, b->away);
}

/* Masses spread over a ratio of up to 1e6. At rest v0 is gravity's doing alone: every contact of a face then has
 * exactly the same right-hand side. */
static void make_bodies(lcp_case *c, perp_random *r)
{
    lcp_scene *s = c->scene;
    const double decades = happens(r, 0.3) ? 0.0 : uniform(r, 0.0, 6.0), h = happens(r, 0.5) ? 0.01 : 0.001;
    const bool resting = happens(r, 0.3), proof_at_rest = happens(r, 0.2);
    for (int i = 0; i < s->body_count; i++) {
        body *b = &s->bodies[i];
        memset(b, 0, sizeof *b);
        b->inverse_mass = pow(10.0, uniform(r, -0.5, 0.5) * decades);
        b->size = uniform(r, 0.05, 0.3);
        place(c, i, r);
        make_inertia(b, r, c->planar);
        if (!resting) {
            random_twist(r, c->planar, 1.0, b->size, b->v0);
        }
        b->v0[c->planar ? 1 : 2] -= 9.81 * h;
        if (!proof_at_rest) {
            random_twist(r, c->planar, 0.1, b->size, b->u);
        }
    }
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* A point near where body b meets the other, on a sphere about it where that is the ground. */
static perp_vec3 meeting_point(const lcp_case *c, const contact *k, double spread, perp_random *r)
{
    const body *b = &c->scene->bodies[k->b];
    const double least = k->a == GROUND ? b->size : fmin(b->size, c->scene->bodies[k->a].size);
    const perp_vec3 at = perp_vec3_add_scaled(b->position, -b->size, k->a == GROUND ? k->normal : b->away);
    return perp_vec3_add_scaled(at, spread * least, random_vector(r, c->planar));
}

/* A body and its parent, or the ground, with a normal that is roughly that of their centres. */
static contact pile_contact(const lcp_case *c, perp_random *r)
{
    const lcp_scene *s = c->scene;
    contact k = {.b = below(r, s->body_count)};
    const body *b = &s->bodies[k.b];
    k.a = happens(r, 0.7) ? b->parent : GROUND;
    const perp_vec3 noise = perp_vec3_scale(0.3, random_vector(r, c->planar));
    const perp_vec3 along = k.a == GROUND ? up(c->planar) : b->away;
    k.normal = happens(r, 0.5) ? along : perp_vec3_normalise(perp_vec3_add(along, noise));
    k.point = meeting_point(c, &k, 0.5, r);
    return k;
}

/* The corners of a face with one normal, one after the other: more contacts than the motions they prevent. Later faces
 * of a body are other sides of it on the ground. */
static contact face_contact(const lcp_case *c, int number)
{
    const lcp_scene *s = c->scene;
    const int corners = c->planar ? 2 : 4, face = number / corners, corner = number % corners;
    contact k = {.b = face % s->body_count};
    const body *b = &s->bodies[k.b];
    k.a = face < s->body_count ? b->parent : GROUND;
    const double half = k.a == GROUND ? b->size : fmin(b->size, s->bodies[k.a].size);
    perp_vec3 t = {1, 0, 0}, o = {0, 0, 0};
    k.normal = up(c->planar);
    if (!c->planar) {
        perp_tangents(k.normal, &t, &o);
    }
    k.point = perp_vec3_add_scaled(b->position, -b->size, k.normal);
    k.point = perp_vec3_add_scaled(k.point, corner == 0 || corner == 3 ? -half : half, t);
    k.point = perp_vec3_add_scaled(k.point, corner < 2 ? -half : half, o);
    return k;
}

/* Bodies between walls that lean by `angle` from the vertical: two, in space up to four; every third contact holds two
 * bodies of the chain together. With friction beyond the tangent of the angle forces that balance each other exist. */
static contact wedge_contact(const lcp_case *c, int number, int walls, double angle, perp_random *r)
{
    const lcp_scene *s = c->scene;
    contact k = {.a = GROUND, .b = number % s->body_count};
    if (number % 3 == 2 && k.b > 0) {
        k.a = s->bodies[k.b].parent;
        k.normal = perp_vec3_normalise(perp_vec3_add_scaled(up(c->planar), 0.2, random_vector(r, c->planar)));
    } else {
        const double around = TWO_PI * (number % walls) / walls;
        const perp_vec3 out =
            c->planar ? perp_vec3_make(number % 2 ? 1 : -1, 0, 0) : perp_vec3_make(cos(around), sin(around), 0);
        k.normal =
            perp_vec3_normalise(perp_vec3_add_scaled(perp_vec3_scale(-cos(angle), out), sin(angle), up(c->planar)));
    }
    k.point = meeting_point(c, &k, happens(r, 0.5) ? 0.5 : 0.0, r);
    return k;
}

/* Friction of a scene: none, one value, or one a contact; 0 to 2 with some exactly 0. */
static double friction(int manner, double shared, perp_random *r)
{
    const double own = happens(r, 0.1) ? 0.0 : uniform(r, 0.0, 2.0);
    return manner == 0 ? 0.0 : manner < 4 ? shared : own;
}

static void make_contacts(lcp_case *c, perp_random *r)
{
    lcp_scene *s = c->scene;
    const double copies = happens(r, 0.4) ? uniform(r, 0.05, 0.5) : 0.0;
    const double shared = uniform(r, 0.0, 2.0), angle = uniform(r, 0.02, 1.2);
    const int manner = below(r, 10), walls = c->planar ? 2 : 2 + below(r, 3);
    for (int i = 0; i < c->contacts; i++) {
        contact *k = &s->contacts[i];
        if (i > 0 && happens(r, copies)) {
            const int twin = below(r, i);
            *k = s->contacts[twin];
            k->twin = twin;
            if (happens(r, 0.3)) { /* as two features that nearly coincide give it */
                k->point = perp_vec3_add_scaled(k->point, 1e-9, random_vector(r, c->planar));
                k->twin = -1;
            }
            continue;
        }
        *k = c->family == LCP_FAMILY_PILE    ? pile_contact(c, r)
             : c->family == LCP_FAMILY_FACES ? face_contact(c, i)
                                             : wedge_contact(c, i, walls, angle, r);
        k->mu = friction(manner, shared, r);
        k->twin = -1;
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void fill_block(const body *b, perp_vec3 point, perp_vec3 direction, double sign, double j[6],
                       double response[6])
{
    const perp_vec3 arm = perp_vec3_cross(perp_vec3_sub(point, b->position), direction);
    const perp_vec3 d = perp_vec3_scale(sign, direction), m = perp_vec3_scale(sign, arm);
    const perp_vec3 turned = perp_mat3_mul_vec(&b->inverse_inertia, m);
    const double values[6] = {d.x, d.y, d.z, m.x, m.y, m.z};
    const double moved[6] = {
        d.x * b->inverse_mass, d.y * b->inverse_mass, d.z * b->inverse_mass, turned.x, turned.y, turned.z};
    memcpy(j, values, sizeof values);
    memcpy(response, moved, sizeof moved);
}

static row make_row(const lcp_scene *s, const contact *k, perp_vec3 direction)
{
    row r = {.bodies = {k->a, k->b}};
    if (k->a != GROUND) {
        fill_block(&s->bodies[k->a], k->point, direction, -1.0, r.j[0], r.response[0]);
    }
    fill_block(&s->bodies[k->b], k->point, direction, 1.0, r.j[1], r.response[1]);
    return r;
}

static void make_rows(const lcp_case *c)
{
    lcp_scene *s = c->scene;
    for (int i = 0; i < c->contacts; i++) {
        const contact *k = &s->contacts[i];
        perp_vec3 t = {k->normal.y, -k->normal.x, 0.0}, o = {0, 0, 0};
        if (!c->planar) {
            perp_tangents(k->normal, &t, &o);
        }
        s->rows[i] = make_row(s, k, k->normal);
        for (int j = 0; j < c->directions / 2; j++) {
            const double angle = TWO_PI * j / c->directions;
            const perp_vec3 ray = perp_vec3_add_scaled(perp_vec3_scale(cos(angle), t), sin(angle), o);
            row *first = &s->rows[c->contacts + i * c->directions + j];
            *first = make_row(s, k, ray);
            first[c->directions / 2] = make_row(s, k, perp_vec3_scale(-1.0, ray)); /* exactly opposite */
        }
    }
}

static double dot6(const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* J_i B^-1 J_k' */
static double coupling(const row *a, const row *b)
{
    double sum = 0.0;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            if (a->bodies[i] != GROUND && a->bodies[i] == b->bodies[k]) {
                sum += dot6(a->j[i], b->response[k]);
            }
        }
    }
    return sum;
}

/* J_i v, with v the bodies' v0 or u. */
static double rate(const lcp_scene *s, const row *r, bool of_proof)
{
    double sum = 0.0;
    for (int i = 0; i < 2; i++) {
        if (r->bodies[i] != GROUND) {
            const body *b = &s->bodies[r->bodies[i]];
            sum += dot6(r->j[i], of_proof ? b->u : b->v0);
        }
    }
    return sum;
}

/* ---- gap rates and the proof ------------------------------------------------------------------------------------- */

/* t_i: the fastest that u slips against a ray of the contact. */
static double slip_of_proof(const lcp_case *c, int i)
{
    double fastest = 0.0;
    for (int j = 0; j < c->directions; j++) {
        fastest = fmax(fastest, -rate(c->scene, &c->scene->rows[c->contacts + i * c->directions + j], true));
    }
    return fastest;
}

/* Proven: what u allows, exactly or with something to spare. Else gaps of either sign, up to a millimetre of 1 ms. */
static void make_gap_rates(lcp_case *c, perp_random *r)
{
    lcp_scene *s = c->scene;
    for (int i = 0; i < c->contacts; i++) {
        contact *k = &s->contacts[i];
        const double spare = happens(r, 0.6) ? 0.0 : uniform(r, 0.0, 0.5), any = uniform(r, -1.0, 0.5);
        const bool touching = happens(r, 0.3);
        if (!c->stabilised) {
            k->gap_rate = 0.0;
        } else if (k->twin >= 0) {
            k->gap_rate = s->contacts[k->twin].gap_rate;
        } else if (c->proven) {
            k->gap_rate = k->mu * slip_of_proof(c, i) - rate(s, &s->rows[i], true) + spare;
        } else {
            k->gap_rate = touching ? 0.0 : any;
        }
    }
}

static void measure_proof(lcp_case *c)
{
    c->proof = INFINITY;
    c->proof_scale = 0.0;
    for (int i = 0; i < c->contacts; i++) {
        const contact *k = &c->scene->contacts[i];
        /* Without stabilisation u = 0 proves it. */
        const double normal = c->stabilised ? rate(c->scene, &c->scene->rows[i], true) : 0.0;
        const double slip = c->stabilised ? slip_of_proof(c, i) : 0.0;
        c->proof = fmin(c->proof, normal + k->gap_rate - k->mu * slip);
        c->proof_scale = fmax(c->proof_scale, fabs(normal) + fabs(k->gap_rate) + k->mu * slip);
    }
}

/* ---- the problem ------------------------------------------------------------------------------------------------- */

static void assemble(lcp_case *c)
{
    const lcp_scene *s = c->scene;
    const int contacts = c->contacts, moving = contacts * (1 + c->directions), n = c->n;
    memset(c->m, 0, (size_t)n * (size_t)n * sizeof *c->m);
    memset(c->q, 0, (size_t)n * sizeof *c->q);
    for (int i = 0; i < moving; i++) {
        for (int k = 0; k < moving; k++) {
            c->m[i * n + k] = coupling(&s->rows[i], &s->rows[k]);
        }
        c->q[i] = rate(s, &s->rows[i], false) + (i < contacts ? s->contacts[i].gap_rate : 0.0);
    }
    for (int i = 0; i < contacts; i++) {
        const int lambda = moving + i;
        c->m[lambda * n + i] = s->contacts[i].mu;
        for (int j = 0; j < c->directions; j++) {
            const int beta = contacts + i * c->directions + j;
            c->m[beta * n + lambda] = 1.0;
            c->m[lambda * n + beta] = -1.0;
        }
    }
}

static perp_random random_of(uint64_t seed, int index, bool proven)
{
    perp_random r = {seed ^ (proven ? 0x70726f76656eu : 0x6f70656eu)};
    r.state = perp_random_bits(&r) + (uint64_t)index * 0xd1342543de82ef95u;
    r.state = perp_random_bits(&r);
    return r;
}

static void make(lcp_case *c, perp_random r, bool proven, int n)
{
    static const int rays[] = {4, 4, 6, 8};
    c->proven = proven;
    c->planar = happens(&r, 0.5);
    c->directions = c->planar ? 2 : rays[below(&r, 4)];
    c->stabilised = !proven || happens(&r, 0.5);
    c->family = (lcp_family)below(&r, LCP_FAMILY_COUNT);
    c->contacts = n / (2 + c->directions);
    c->n = c->contacts * (2 + c->directions);
    const int most = c->contacts / 2 < MAX_BODIES ? c->contacts / 2 : MAX_BODIES;
    c->scene->body_count = 1 + below(&r, most > 0 ? most : 1);
    make_bodies(c, &r);
    make_contacts(c, &r);
    make_rows(c);
    make_gap_rates(c, &r);
    measure_proof(c);
    assemble(c);
}

void lcp_case_make(lcp_case *c, uint64_t seed, int index, bool proven)
{
    perp_random r = random_of(seed, index, proven);
    const double size = exp(uniform(&r, log(LCP_CASE_MIN_N), log(LCP_CASE_MAX_N + 1)));
    make(c, r, proven, (int)size);
    if (c->n < LCP_CASE_MIN_N) { /* cut to whole contacts */
        make(c, r, proven, LCP_CASE_MIN_N + 9);
    }
}

void lcp_case_make_sized(lcp_case *c, uint64_t seed, int index, bool proven, int n)
{
    make(c, random_of(seed ^ ((uint64_t)n << 32), index, proven), proven, n);
}

bool lcp_case_proof_holds(const lcp_case *c)
{
    lcp_case again = *c;
    measure_proof(&again);
    return c->proven && again.proof >= -1e-14 * (1.0 + again.proof_scale);
}

static void write_numbers(FILE *out, const char *head, const double *values, int count)
{
    fprintf(out, "%s[", head);
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s%.17g", i ? ", " : "", values[i]);
    }
    fprintf(out, "]\n");
}

bool lcp_case_write(const lcp_case *c, const char *path, const char *comment)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        return false;
    }
    fprintf(out, "# %s\nkind: lcp\nM:\n", comment);
    for (int i = 0; i < c->n; i++) {
        write_numbers(out, "- ", c->m + i * c->n, c->n);
    }
    write_numbers(out, "q: ", c->q, c->n);
    const bool good = !ferror(out);
    return fclose(out) == 0 && good;
}
