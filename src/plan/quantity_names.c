/* From names to quantities. */
#include "plan/quantity.h"
#include "plan/tolerances.h"
#include "trace/state_view.h"
#include "yaml/decode.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of text, not terminated. */
typedef struct piece {
    const char *text;
    size_t length;
} piece;

static bool is(piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

static bool begins(piece p, const char *word)
{
    return p.length >= strlen(word) && memcmp(p.text, word, strlen(word)) == 0;
}

static piece rest(piece p, size_t from)
{
    return (piece){p.text + from, p.length - from};
}

static bool refuse(perp_error *error, const char *format, piece p)
{
    perp_fail(error, PERP_STATUS_BAD_INPUT, format, (int)(p.length > 100 ? 100 : p.length), p.text);
    return false;
}

/* ---- columns of the state ---------------------------------------------------------------------------------------- */

static const char *const residual_names[] = {"balance",      "complementarity", "cone", "penetration",
                                             "balance_true", "boundary_layer",  "loop"};
enum { RESIDUAL_COUNT = sizeof residual_names / sizeof *residual_names };
_Static_assert(RESIDUAL_COUNT * sizeof(double) == sizeof(perp_residuals), "every residual has its name, in order");
static const char *const energy_names[] = {"kinetic", "potential"};
static const char *const contact_parts[] = {
    [CONTACT_FN] = "fn", [CONTACT_FT] = "ft", [CONTACT_PHI] = "phi", [CONTACT_SLIP] = "slip"};
static const char *const sections[] = {"existence", "uniqueness", "rigidity", "closure", "why", "model", "t", "status"};

/* Calls `see` for every column, until it returns true. */
static bool columns(const perp_quantities *q, bool (*see)(void *context, const char *column, const quantity *c),
                    void *context)
{
    for (int rates = 0; rates < 2; rates++) {
        state_entry entry;
        for (int cursor = 0, before = 0; perp_state_next(q->model, &q->start, &cursor, &entry); before = cursor) {
            for (int k = 0; k < (rates ? entry.nv : entry.nq); k++) {
                char column[PERP_SCENE_MAX_NAME + 16];
                snprintf(column, sizeof column, "%s%s%s", rates ? "v:" : "", entry.name,
                         perp_state_ending(entry.nq, rates == 1, k));
                const quantity c = {.source = QUANTITY_STATE, .cursor = before, .number = k, .rates = rates == 1};
                if (see(context, column, &c)) {
                    return true;
                }
            }
        }
    }
    return false;
}

typedef struct column_search {
    piece name;
    quantity *made;
} column_search;

static bool is_column(void *context, const char *column, const quantity *c)
{
    const column_search *search = context;
    if (!is(search->name, column)) {
        return false;
    }
    *search->made = *c;
    return true;
}

/* ---- other outputs ----------------------------------------------------------------------------------------------- */

static int find_word(piece p, const char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        if (is(p, words[i])) {
            return i;
        }
    }
    return -1;
}

static int find_body(const perp_scene *scene, piece name)
{
    for (int i = 0; i < scene->body_count; i++) {
        if (is(name, scene->bodies[i].name)) {
            return i;
        }
    }
    return -1;
}

/* May two bodies have contacts? Of a body with itself those of its support. */
static bool may_meet(const perp_scene *scene, int a, int b)
{
    return a != b || scene->bodies[a].support.set;
}

/* contact.A B.fn */
static bool contact(const perp_scene *scene, piece name, quantity *made)
{
    const piece pair = rest(name, strlen("contact."));
    size_t blank = 0, dot = pair.length;
    while (blank < pair.length && pair.text[blank] != ' ') {
        blank++;
    }
    while (dot > 0 && pair.text[dot - 1] != '.') {
        dot--;
    }
    if (blank == pair.length || dot <= blank + 1) {
        return false;
    }
    size_t second = blank;
    while (second < pair.length && pair.text[second] == ' ') {
        second++;
    }
    made->source = QUANTITY_CONTACT;
    made->a = find_body(scene, (piece){pair.text, blank});
    made->b = second < dot - 1 ? find_body(scene, (piece){pair.text + second, dot - 1 - second}) : -1;
    made->part = find_word(rest(pair, dot), contact_parts, CONTACT_SLIP + 1);
    return made->a >= 0 && made->b >= 0 && may_meet(scene, made->a, made->b) && made->part >= 0;
}

static bool listed(piece name, const char *prefix, const char *const *words, int count, quantity_source source,
                   quantity *made)
{
    made->source = source;
    made->part = begins(name, prefix) ? find_word(rest(name, strlen(prefix)), words, count) : -1;
    return made->part >= 0;
}

/* Of what follows `analyze.closure.`: the body's name, which may have characters of operators; 0: none begins it. */
static size_t body_length(const perp_scene *scene, piece path)
{
    size_t longest = 0;
    for (int i = 0; i < scene->body_count; i++) {
        const size_t length = strlen(scene->bodies[i].name);
        if (length > longest && length <= path.length && memcmp(path.text, scene->bodies[i].name, length) == 0 &&
            (length == path.length || path.text[length] == '.')) {
            longest = length;
        }
    }
    return longest;
}

/* analyze.PATH: whether its first part is known; the rest, of plain characters, is looked for in an analysis. */
static bool analysis(const perp_scene *scene, piece name, quantity *made)
{
    const piece path = rest(name, strlen("analyze."));
    size_t dot = 0;
    while (dot < path.length && path.text[dot] != '.') {
        dot++;
    }
    made->source = QUANTITY_ANALYSIS;
    made->part = find_word((piece){path.text, dot}, sections, sizeof sections / sizeof *sections);
    if (made->part < 0) {
        return false;
    }
    size_t at = dot;
    if (dot < path.length && strcmp(sections[made->part], "closure") == 0) {
        at += 1 + body_length(scene, rest(path, dot + 1));
    }
    while (at < path.length && (isalnum((unsigned char)path.text[at]) || strchr("._", path.text[at]))) {
        at++;
    }
    return at == path.length;
}

static bool output(const perp_quantities *q, piece name, quantity *made)
{
    column_search search = {name, made};
    if (columns(q, is_column, &search)) {
        return true;
    }
    if (is(name, "status")) {
        made->source = QUANTITY_STATUS;
        return true;
    }
    return (begins(name, "contact.") && contact(q->model->scene, name, made)) ||
           listed(name, "energy.", energy_names, 2, QUANTITY_ENERGY, made) ||
           listed(name, "residual.", residual_names, RESIDUAL_COUNT, QUANTITY_RESIDUAL, made) ||
           (begins(name, "analyze.") && analysis(q->model->scene, name, made));
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

static const yaml_node *tree_of(const perp_scene *scene)
{
    return scene->locate == perp_yaml_tree_locate ? scene->locate_context : NULL;
}

static const yaml_node *child_at(const yaml_node *node, piece part)
{
    const yaml_node *child = node->first;
    char number[16];
    for (; child; child = child->next) {
        snprintf(number, sizeof number, "%d", child->index);
        if (is(part, child->key ? child->key : number)) {
            break;
        }
    }
    return child;
}

static bool path(const perp_scene *scene, piece name, quantity *made)
{
    const yaml_node *node = tree_of(scene);
    while (node && name.length > 0) {
        size_t dot = 0;
        while (dot < name.length && name.text[dot] != '.') {
            dot++;
        }
        node = node->kind == YAML_SCALAR ? NULL : child_at(node, (piece){name.text, dot});
        name = dot < name.length ? rest(name, dot + 1) : rest(name, dot);
    }
    if (!node || node->kind != YAML_SCALAR || perp_yaml_tree_is_null(node)) {
        return false;
    }
    bool truth;
    made->source = QUANTITY_CONSTANT;
    if (perp_is_number(node)) {
        perp_quantity_set(made, strtod(node->text, NULL));
    } else if (perp_find_bool(node, &truth)) {
        made->value = (perp_value){.kind = PERP_VALUE_TRUTH, .number = truth ? 1.0 : 0.0};
    } else {
        made->value.kind = PERP_VALUE_WORD;
        snprintf(made->value.word, sizeof made->value.word, "%s", node->text);
    }
    return true;
}

/* ---- moments ----------------------------------------------------------------------------------------------------- */

int perp_quantity_step_at(const perp_quantities *q, double t)
{
    const double step = floor(t / q->model->scene->run.h + STEP_ROUNDING);
    return step < 1e9 ? (int)step : 1000000000;
}

/* The number behind "t=" or "step="; false: there is none, or something else follows. */
static bool moment_number(piece text, double *value)
{
    char number[40], *end;
    if (text.length == 0 || text.length >= sizeof number || !strchr("0123456789.", text.text[0])) {
        return false;
    }
    for (size_t i = 0; i < text.length; i++) {
        number[i] = text.text[i];
        if (!strchr("0123456789.eE+-", number[i])) {
            return false;
        }
    }
    number[text.length] = '\0';
    *value = strtod(number, &end);
    return *end == '\0' && isfinite(*value);
}

static bool moment(const perp_quantities *q, piece text, quantity *made, perp_error *error)
{
    static const char *const words[] = {"max", "min", "mean"};
    static const quantity_moment moments[] = {LARGEST, SMALLEST, MEAN};
    const int word = find_word(text, words, 3);
    double number = 0.0;
    if (made->source == QUANTITY_STATUS || (made->source == QUANTITY_ANALYSIS && word >= 0)) {
        return refuse(error, "`@%.*s` says nothing here", text);
    }
    if (word >= 0) {
        made->moment = moments[word];
        return true;
    }
    const bool time = begins(text, "t="), step = begins(text, "step=");
    if ((!time && !step) || !moment_number(rest(text, time ? 2 : 5), &number) ||
        (step && (number != floor(number) || number > 1e9))) {
        return refuse(error, "behind `@` stands t=SECONDS, step=NUMBER, max, min or mean, not `%.*s`", text);
    }
    made->moment = AT_STEP;
    made->step = time ? perp_quantity_step_at(q, number) : (int)number;
    const bool steps = perp_rung_find(q->model->scene->run.model)->step != NULL;
    if (made->step > (made->source == QUANTITY_ANALYSIS && steps ? 1000000000 : q->steps)) {
        return refuse(error, "`@%.*s` is behind the end of the run", text);
    }
    return true;
}

/* ---- names that are near ----------------------------------------------------------------------------------------- */

typedef struct offers {
    perp_nearest nearest;
    char name[2 * PERP_SCENE_MAX_NAME + 20]; /* of the nearest */
} offers;

static void offer(offers *o, const char *name)
{
    perp_nearest_offer(&o->nearest, name);
    if (o->nearest.name == name) {
        snprintf(o->name, sizeof o->name, "%s", name);
        o->nearest.name = o->name;
    }
}

static bool offer_column(void *context, const char *column, const quantity *c)
{
    (void)c;
    offer(context, column);
    return false;
}

static void offer_listed(offers *o, const char *prefix, const char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", prefix, words[i]);
        offer(o, name);
    }
}

enum { MOST_OFFERS = 20000 }; /* of contacts and of paths: a scene may have a million */

static void offer_contacts(offers *o, const perp_scene *scene)
{
    int left = MOST_OFFERS;
    for (int a = 0; a < scene->body_count && left > 0; a++) {
        for (int b = 0; b < scene->body_count && left > 0; b++, left--) {
            for (int part = 0; part <= CONTACT_SLIP && may_meet(scene, a, b); part++) {
                char name[2 * PERP_SCENE_MAX_NAME + 20];
                snprintf(name, sizeof name, "contact.%s %s.%s", scene->bodies[a].name, scene->bodies[b].name,
                         contact_parts[part]);
                offer(o, name);
            }
        }
    }
}

static void offer_paths(offers *o, const yaml_node *node, int *left)
{
    if (node->kind == YAML_SCALAR) {
        char name[200];
        perp_yaml_tree_path(node, name, sizeof name);
        offer(o, name);
    }
    for (const yaml_node *child = node->first; child && --*left > 0; child = child->next) {
        offer_paths(o, child, left);
    }
}

static void offer_all(offers *o, const perp_quantities *q)
{
    const perp_scene *scene = q->model->scene;
    int left = MOST_OFFERS;
    for (int i = 0; i < q->count; i++) {
        if (q->quantities[i].source == QUANTITY_CONSTANT) {
            offer(o, q->quantities[i].name);
        }
    }
    columns(q, offer_column, o);
    offer(o, "status");
    offer_listed(o, "energy.", energy_names, 2);
    offer_listed(o, "residual.", residual_names, RESIDUAL_COUNT);
    offer_contacts(o, scene);
    if (tree_of(scene)) {
        offer_paths(o, tree_of(scene), &left);
    }
}

static bool refuse_unknown(const perp_quantities *q, piece name, perp_error *error)
{
    char word[256];
    if (!error) {
        return false;
    }
    snprintf(word, sizeof word, "%.*s", (int)(name.length > 200 ? 200 : name.length), name.text);
    offers o = {.nearest = perp_nearest_begin(word)};
    if (begins(name, "analyze.")) {
        word[strcspn(word + 8, ".") + 8] = '\0';
        offer_listed(&o, "analyze.", sections, sizeof sections / sizeof *sections);
    } else {
        offer_all(&o, q);
    }
    perp_fail(error, PERP_STATUS_BAD_INPUT, "there is no output or path `%.200s`%s%.160s%s", word,
              o.nearest.name ? "; did you mean `"
                             : " (outputs are columns of state.csv, contact.A B.fn, energy.kinetic, "
                               "residual.balance, status, analyze.PATH; paths are values that the "
                               "scene has)",
              o.nearest.name ? o.nearest.name : "", o.nearest.name ? "`?" : "");
    return false;
}

/* ---- resolving --------------------------------------------------------------------------------------------------- */

bool perp_quantity_resolve(const perp_quantities *q, const char *text, size_t length, quantity *made, perp_error *error)
{
    const piece whole = {text, length};
    size_t at = 0;
    while (at < length && text[at] != '@') {
        at++;
    }
    const piece name = {text, at};
    memset(made, 0, sizeof *made);
    if (output(q, name, made)) {
        const bool of_run = made->source == QUANTITY_STATUS || made->source == QUANTITY_RESIDUAL;
        made->moment = of_run ? OF_RUN : AT_STEP;
        made->step = made->source == QUANTITY_ANALYSIS ? 0 : q->steps;
        return at == length || moment(q, rest(whole, at + 1), made, error);
    }
    memset(made, 0, sizeof *made);
    return (at == length && path(q->model->scene, name, made)) || refuse_unknown(q, whole, error);
}
