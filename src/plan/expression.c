#include "plan/expression.h"

#include "base/plain_locale.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STACK = 4 * PERP_EXPRESSION_NESTING, MOST_ARGUMENTS = 16 };

/* Codes below FIRST_FUNCTION are operators. */
enum { NUMBER, NAME, ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER, NEGATE, FIRST_FUNCTION };

typedef struct function {
    const char *name;
    int least, most; /* arguments */
} function;

enum { ABS, MIN, MAX, SQRT, EXP, LOG, SIN, COS, TAN, ATAN2, HYPOT, FUNCTION_COUNT };

static const function functions[FUNCTION_COUNT] = {
    [ABS] = {"abs", 1, 1},
    [MIN] = {"min", 2, MOST_ARGUMENTS},
    [MAX] = {"max", 2, MOST_ARGUMENTS},
    [SQRT] = {"sqrt", 1, 1},
    [EXP] = {"exp", 1, 1},
    [LOG] = {"log", 1, 1},
    [SIN] = {"sin", 1, 1},
    [COS] = {"cos", 1, 1},
    [TAN] = {"tan", 1, 1},
    [ATAN2] = {"atan2", 2, 2},
    [HYPOT] = {"hypot", 2, 2},
};

static const double PI = 3.14159265358979323846;

typedef struct parser {
    const char *text, *at;
    const expression_names *names;
    perp_arena *arena;
    expression_operation *operations;
    int count, capacity;
    int nesting, stack;
    perp_error *error;
} parser;

static void skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t') {
        p->at++;
    }
}

__attribute__((format(printf, 3, 4))) static bool refuse(parser *p, const char *at, const char *format, ...)
{
    char message[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    perp_fail(p->error, PERP_STATUS_BAD_INPUT, "%s", message);
    p->error->column = (int)(at - p->text) + 1;
    return false;
}

static bool out_of_memory(parser *p)
{
    perp_fail(p->error, PERP_STATUS_OUT_OF_MEMORY, "out of memory for an expression");
    return false;
}

/* Appends an operation that takes `operands` from the stack and puts one there. */
static bool emit(parser *p, expression_operation operation, int operands, const char *at)
{
    expression_operation *grown =
        perp_arena_grow(p->arena, p->operations, p->count, &p->capacity, sizeof *p->operations);
    if (!grown) {
        return out_of_memory(p);
    }
    p->operations = grown;
    p->stack += 1 - operands;
    operation.column = (int)(at - p->text) + 1;
    p->operations[p->count++] = operation;
    return p->stack <= MOST_STACK || refuse(p, at, "the expression is too deep here");
}

static bool refuse_operator(parser *p)
{
    return refuse(p, p->at, "expected an operator, not `%c`", isprint((unsigned char)*p->at) ? *p->at : '?');
}

static bool sum(parser *p);

static bool enter(parser *p)
{
    return ++p->nesting <= PERP_EXPRESSION_NESTING ||
           refuse(p, p->at, "parentheses and signs are nested too deep here");
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static bool ends_operand(const char *at)
{
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    return *at == '\0' || strchr("+-*/^(),", *at) != NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':' || c == '@' || c == '=' || (c & 0x80);
}

/* Length of the decimal number that stands here, 0: there is none. "2nd" and "0x1" are none. */
static size_t number_length(const char *at)
{
    const char *c = at;
    const size_t whole = strspn(c, "0123456789");
    c += whole;
    size_t fraction = 0;
    if (*c == '.') {
        fraction = strspn(c + 1, "0123456789");
        c += 1 + fraction;
    }
    if (whole + fraction == 0) {
        return 0;
    }
    if (*c == 'e' || *c == 'E') {
        const char *exponent = c + 1 + (c[1] == '+' || c[1] == '-' ? 1 : 0);
        const size_t digits = strspn(exponent, "0123456789");
        c = digits > 0 ? exponent + digits : c;
    }
    return ends_operand(c) ? (size_t)(c - at) : 0;
}

static bool number(parser *p, size_t length)
{
    char text[64];
    if (length >= sizeof text) {
        return refuse(p, p->at, "a number has at most 63 characters");
    }
    memcpy(text, p->at, length);
    text[length] = '\0';
    const double value = strtod(text, NULL);
    if (!isfinite(value)) {
        return refuse(p, p->at, "the number %s is too large", text);
    }
    const char *at = p->at;
    p->at += length;
    return emit(p, (expression_operation){.code = NUMBER, .number = value}, 0, at);
}

static bool arguments(parser *p, int index, const char *at)
{
    const function *f = &functions[index];
    int count = 0;
    do {
        p->at++;
        if (!sum(p)) {
            return false;
        }
        count++;
        skip_blanks(p);
    } while (*p->at == ',' && count < f->most);
    if (*p->at == ',') {
        return refuse(p, p->at, "%s has no further argument: a `)` is missing here", f->name);
    }
    if (*p->at != ')') {
        return refuse(p, p->at, "a `)` is missing here");
    }
    if (count < f->least) {
        return refuse(p, p->at, "%s needs one more argument here", f->name);
    }
    p->at++;
    return emit(p, (expression_operation){.code = (unsigned char)(FIRST_FUNCTION + index), .count = count}, count, at);
}

/* The word that would be a name if it were one, for messages: up to an operator, with the second body of a contact. */
static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_word(at[length]) || ((at[length] == ' ' || at[length] == '\t') && is_word(at[length + 1]))) {
        length++;
    }
    return length;
}

static bool name(parser *p)
{
    const char *at = p->at;
    for (size_t length = strlen(at); length > 0; length--) {
        if (at[length - 1] == ' ' || at[length - 1] == '\t' || !ends_operand(at + length)) {
            continue;
        }
        const int symbol = p->names->find(p->names->context, at, length, NULL);
        if (symbol >= 0) {
            p->at += length;
            return emit(p, (expression_operation){.code = NAME, .symbol = symbol}, 0, at);
        }
    }
    const size_t length = word_length(at);
    if (length == 0) {
        return *at ? refuse(p, at, "expected a number, a name or `(`, not `%c`",
                            isprint((unsigned char)*at) ? *at : '?')
                   : refuse(p, at, "a number, a name or `(` is missing at the end");
    }
    if (p->names->find(p->names->context, at, length, p->error) >= 0) {
        p->at += length;
        return refuse_operator(p);
    }
    p->error->column = (int)(at - p->text) + 1;
    return false;
}

static bool operand(parser *p)
{
    skip_blanks(p);
    const char *at = p->at;
    if (*at == '(') {
        p->at++;
        if (!sum(p)) {
            return false;
        }
        skip_blanks(p);
        if (*p->at != ')') {
            return refuse(p, p->at, "a `)` is missing here");
        }
        p->at++;
        return true;
    }
    const size_t digits = number_length(at);
    if (digits > 0) {
        return number(p, digits);
    }
    size_t length = 0;
    while (isalnum((unsigned char)at[length])) {
        length++;
    }
    if (length == 2 && memcmp(at, "pi", 2) == 0 && ends_operand(at + 2)) {
        p->at += 2;
        return emit(p, (expression_operation){.code = NUMBER, .number = PI}, 0, at);
    }
    for (int i = 0; i < FUNCTION_COUNT && length > 0; i++) {
        if (strlen(functions[i].name) == length && memcmp(at, functions[i].name, length) == 0) {
            p->at += length;
            skip_blanks(p);
            if (*p->at == '(') {
                return arguments(p, i, at);
            }
            p->at = at;
        }
    }
    return name(p);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static bool signed_power(parser *p)
{
    skip_blanks(p);
    const char *at = p->at;
    if (!enter(p)) {
        return false;
    }
    bool good;
    if (*at == '-' || *at == '+') {
        p->at++;
        good = signed_power(p) && (*at == '+' || emit(p, (expression_operation){.code = NEGATE}, 1, at));
    } else {
        good = operand(p);
        skip_blanks(p);
        if (good && *p->at == '^') {
            const char *sign = p->at++;
            good = signed_power(p) && emit(p, (expression_operation){.code = POWER}, 2, sign);
        }
    }
    p->nesting--;
    return good;
}

static bool chain(parser *p, bool (*part)(parser *p), const char *signs, const unsigned char codes[2])
{
    if (!part(p)) {
        return false;
    }
    for (;;) {
        skip_blanks(p);
        const char *at = p->at;
        if (*at == '\0' || !strchr(signs, *at)) {
            return true;
        }
        p->at++;
        if (!part(p) || !emit(p, (expression_operation){.code = codes[*at == signs[1]]}, 2, at)) {
            return false;
        }
    }
}

static bool product(parser *p)
{
    return chain(p, signed_power, "*/", (const unsigned char[]){MULTIPLY, DIVIDE});
}

static bool sum(parser *p)
{
    return chain(p, product, "+-", (const unsigned char[]){ADD, SUBTRACT});
}

static bool whole(parser *p)
{
    if (strlen(p->text) > PERP_EXPRESSION_MOST) {
        return refuse(p, p->text, "an expression has at most %d characters", PERP_EXPRESSION_MOST);
    }
    if (!sum(p)) {
        return false;
    }
    skip_blanks(p);
    return *p->at == '\0' || refuse_operator(p);
}

perp_status perp_expression_parse(const char *text, const expression_names *names, perp_arena *arena, expression *made,
                                  perp_error *error)
{
    perp_error own = {0};
    perp_plain_locale locale = {0};
    parser p = {.text = text, .at = text, .names = names, .arena = arena, .error = error ? error : &own};
    memset(made, 0, sizeof *made);
    p.error->status = PERP_STATUS_OK;
    if (!perp_plain_locale_open(&locale)) {
        out_of_memory(&p);
        return PERP_STATUS_OUT_OF_MEMORY;
    }
    perp_plain_locale_enter(&locale);
    const bool good = whole(&p);
    perp_plain_locale_leave(&locale);
    perp_plain_locale_close(&locale);
    if (good) {
        made->count = p.count;
        made->operations = p.operations;
        return PERP_STATUS_OK;
    }
    return p.error->status;
}

int perp_expression_symbol(const expression *e)
{
    return e->count == 1 ? perp_expression_name_at(e, 0) : -1;
}

int perp_expression_name_at(const expression *e, int i)
{
    return e->operations[i].code == NAME ? e->operations[i].symbol : -1;
}

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

static double apply_function(int index, const double *x, int count)
{
    double extreme = x[0];
    switch (index) {
    case ABS:
        return fabs(x[0]);
    case MIN:
    case MAX:
        for (int i = 1; i < count; i++) {
            extreme = (index == MIN ? x[i] < extreme : x[i] > extreme) ? x[i] : extreme;
        }
        return extreme;
    case SQRT:
        return sqrt(x[0]);
    case EXP:
        return exp(x[0]);
    case LOG:
        return log(x[0]);
    case SIN:
        return sin(x[0]);
    case COS:
        return cos(x[0]);
    case TAN:
        return tan(x[0]);
    case ATAN2:
        return atan2(x[0], x[1]);
    case HYPOT:
        return hypot(x[0], x[1]);
    }
    return NAN;
}

static double apply(const expression_operation *o, const double *x)
{
    switch (o->code) {
    case ADD:
        return x[0] + x[1];
    case SUBTRACT:
        return x[0] - x[1];
    case MULTIPLY:
        return x[0] * x[1];
    case DIVIDE:
        return x[0] / x[1];
    case POWER:
        return pow(x[0], x[1]);
    case NEGATE:
        return -x[0];
    }
    return apply_function(o->code - FIRST_FUNCTION, x, o->count);
}

bool perp_expression_evaluate(const expression *e, double (*value)(void *context, int symbol), void *context,
                              double *result)
{
    double stack[MOST_STACK + 1];
    int top = 0;
    for (int i = 0; i < e->count; i++) {
        const expression_operation *o = &e->operations[i];
        double made;
        if (o->code == NUMBER || o->code == NAME) {
            made = o->code == NUMBER ? o->number : value(context, o->symbol);
        } else {
            top -= o->code >= FIRST_FUNCTION ? o->count : o->code == NEGATE ? 1 : 2;
            made = apply(o, stack + top);
        }
        if (!isfinite(made)) { /* 1 / inf would hide it */
            *result = NAN;
            return false;
        }
        stack[top++] = made;
    }
    *result = stack[0];
    return true;
}
