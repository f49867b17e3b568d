/* expression.h - arithmetic as text: parsed once, evaluated often.
 *
 *   sum      product (+ or - product)..
 *   product  signed (* or / signed)..
 *   signed   - signed | + signed | power
 *   power    operand (^ signed)
 *   operand  number | pi | FUNCTION(sum, ..) | (sum) | NAME
 *
 * What a NAME is, the caller says: of the characters up to the end the longest piece that it knows and that ends before
 * an operator, a parenthesis or a comma. An expression is a list of operations on a stack, so that evaluating neither
 * recurses nor allocates; how deep the stack gets is bounded when it is parsed. */
#ifndef PERP_SRC_PLAN_EXPRESSION_H
#define PERP_SRC_PLAN_EXPRESSION_H

#include <perp/plan.h>

#include "base/arena.h"

typedef struct expression_names {
    void *context;
    /* The symbol of a name, or -1. With `error` (else NULL) the name is to be refused: it says why, but for the column.
     * OUT_OF_MEMORY may also be reported there, at any time. */
    int (*find)(void *context, const char *name, size_t length, perp_error *error);
} expression_names;

typedef struct expression_operation {
    unsigned char code;
    int symbol, count; /* of a name; arguments of a function */
    int column;
    double number;
} expression_operation;

typedef struct expression {
    int count;
    const expression_operation *operations;
} expression;

/* BAD_INPUT with error.column, OUT_OF_MEMORY. */
perp_status perp_expression_parse(const char *text, const expression_names *names, perp_arena *arena, expression *made,
                                  perp_error *error);
/* The symbol where it is a name and nothing else, or -1. */
int perp_expression_symbol(const expression *e);
/* That of the i-th operation, or -1 where it is not a name. */
int perp_expression_name_at(const expression *e, int i);
/* `value(context, symbol)` is a number or NaN: not defined. False, and NaN, where any part of it is not a finite
 * number. */
bool perp_expression_evaluate(const expression *e, double (*value)(void *context, int symbol), void *context,
                              double *result);

#endif
