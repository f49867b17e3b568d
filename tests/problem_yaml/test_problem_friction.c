/* Friction problems from YAML and from Siconos' text files. */
#include <perp/problem_yaml.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failing_allocator.h"
#include "problem_yaml/problem_load.h"
#include "refusals.h"

static perp_diagnostics diagnostics;

typedef perp_status load_function(const char *text, size_t length, const char *name, const perp_allocator *allocator,
                                  perp_problem **problem, perp_diagnostics *list);

static perp_problem *load(load_function *read, const char *text)
{
    perp_problem *problem;
    memset(&diagnostics, 0, sizeof diagnostics);
    const perp_status status = read(text, strlen(text), "p", NULL, &problem, &diagnostics);
    assert_true((status == PERP_STATUS_OK) == (problem != NULL));
    assert_true((status == PERP_STATUS_OK) == (diagnostics.errors == 0));
    return problem;
}

static bool yaml_is_refused(const char *text)
{
    perp_problem *p = load(perp_problem_load_text, text);
    perp_problem_free(p);
    return !p;
}

static bool dat_is_refused(const char *text)
{
    perp_problem *p = load(perp_problem_load_dat, text);
    perp_problem_free(p);
    return !p;
}

/* Values are read as written: the comparison is exact. */
static void assert_reals(const double *values, const double *expected, int count)
{
    for (int i = 0; i < count; i++) {
        if (!(values[i] == expected[i])) {
            fail_msg("entry %d is %.17g, expected %.17g", i, values[i], expected[i]);
        }
    }
}

/* Two planar contacts, W not symmetric so that rows and columns cannot be mixed up. */
static const double w[16] = {2, 0.5, 0, 0, -0.25, 3, 0, 1, 0, 0, 4, 0, 7, 0, 0, 5};
static const double q[4] = {-1, 2.5, 1e-3, 0}, mu[2] = {0.5, 0};

static void assert_problem(load_function *read, const char *text)
{
    perp_problem *p = load(read, text);
    if (!p) {
        print_diagnostics(&diagnostics);
    }
    assert_non_null(p);
    assert_int_equal(p->kind, PERP_PROBLEM_FRICTION);
    assert_int_equal(perp_problem_size(p), 4);
    assert_int_equal(p->friction.contacts, 2);
    assert_int_equal(p->friction.dim, 2);
    assert_reals(p->friction.w, w, 16);
    assert_reals(p->friction.q, q, 4);
    assert_reals(p->friction.mu, mu, 2);
    /* at r = 0 contact 0 has z = (-1 + 0.5 2.5, 2.5), beside 1 it is z itself or what P leaves of it */
    const double r[4] = {0, 0, 0, 0};
    assert_true(perp_problem_residual(p, r) == perp_friction_residual(&p->friction, r));
    perp_problem_free(p);
}

/* ---- what is accepted ---- */

static void yaml(void **state)
{
    (void)state;
    assert_problem(perp_problem_load_text, "kind: friction\ndim: 2\nmu: [0.5, 0]\nq: [-1, 2.5, 1e-3, 0]\n"
                                           "W: [[2, 0.5, 0, 0], [-0.25, 3, 0, 1], [0, 0, 4, 0], [7, 0, 0, 5]]\n");
    assert_problem(perp_problem_load_text,
                   "W: {rows: 4, cols: 4, triplets: [[0, 0, 2], [0, 1, .5], [1, 0, -.25], [1, 1, 3], [1, 3, 1],\n"
                   "   [2, 2, 4], [3, 0, 6.5], [3, 3, 5], [3, 0, .5]]}\n"
                   "mu: [0.5, 0]\nq: [-1, 2.5, 1e-3, 0]\ndim: 2\nkind: friction\n");
}

#define TAIL "-1 2.5 1e-3 0\n 5.0e-01 0\n"

static void dat(void **state)
{
    (void)state;
    /* column by column; the flag of older files; other blanks */
    assert_problem(perp_problem_load_dat, "2\n2\n0\n4\n4\n4\t4\n2 -.25 0 7\n.5 3 0 0\n0 0 4 0\n0 1 0 5\n" TAIL);
    assert_problem(perp_problem_load_dat, "2\r\n2 0 4 4 4 4 2 -.25 0 7 .5 3 0 0 0 0 4 0 0 1 0 5 " TAIL "0\n");
    /* blocks, a column of which in two parts that add up */
    assert_problem(perp_problem_load_dat, "2\n2\n1\n4\n4\n5\n2\n2\n2\t4\t\n2\t4\n3\n5\n0\t2\t5\n0\t1\t0\t1\t1\n"
                                          "0\n2\n-0.25\n0.5\n3\n"
                                          "1\n0\n0\n0\n1\n"
                                          "2\n0\n7\n0\n0\n"
                                          "3\n1\n0\n0\n2\n"
                                          "4\n3\n0\n0\n3\n" TAIL);
    /* blocks of other sizes than the contacts' */
    assert_problem(perp_problem_load_dat, "2 2 1 4 4 4 2 2 1 4 3 4 3 4 0 2 4 0 1 0 1 0 2 .5 0 1 0 "
                                          "2 -.25 0 7 3 0 0 0 4 0 3 1 0 5\n" TAIL);
    /* sparse, in the three orders */
    assert_problem(perp_problem_load_dat, "2 2 2 4 4\n1\nCSparse Version 3.1.9, May 4, 2016.  Copyright (c)\n"
                                          "triplet: 4-by-4, nzmax: 16 nnz: 9\n    0 0 : 2\n    0 1 : .5\n 1 0 : -.25\n"
                                          "1 1 : 3\n1 3 : 1\n2 2 : 4\n3 0 : 3\n3 3 : 5\n3 0 : 4\n" TAIL);
    assert_problem(perp_problem_load_dat, "2 2 2 4 4\n2\nCSparse Version\n4-by-4, nzmax: 8 nnz: 8, 1-norm: 9.25\n"
                                          "    col 0 : locations 0 to 2\n      0 : 2\n 1 : -.25\n 3 : 7\n"
                                          "col 1 : locations 3 to 4\n0 : .5\n1 : 3\ncol 2 : locations 5 to 5\n2 : 4\n"
                                          "col 3 : locations 6 to 7\n1 : 1\n3 : 5\n" TAIL);
    assert_problem(perp_problem_load_dat,
                   "2 2 2 4 4\n3\nCSparse Version\ncsr: 4-by-4, nzmax: 8 nnz: 8, 1-norm: 9.25\n"
                   "row 0 : locations 0 to 1\n0 : 2\n1 : .5\nrow 1 : locations 2 to 4\n0 : -.25\n"
                   "1 : 3\n3 : 1\nrow 2 : locations 5 to 5\n2 : 4\nrow 3 : locations 6 to 7\n"
                   "0 : 7\n3 : 5\n" TAIL);
}

static void empty_matrices(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "2 1 1 2 2 0 1 2 0.5",
        "2 1 2 2 2 1 CSparse x\ntriplet: 2-by-2, nzmax: 1 nnz: 0\n1 2 0.5",
        ("2 1 2 2 2 2 CSparse x\n2-by-2, nzmax: 1 nnz: 0, 1-norm: 0\ncol 0 : locations 0 to -1\n"
         "col 1 : locations 0 to -1 1 2 0.5"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        perp_problem *p = load(perp_problem_load_dat, texts[i]);
        assert_non_null(p);
        assert_reals(p->friction.w, (double[]){0, 0, 0, 0}, 4);
        assert_reals(p->friction.q, (double[]){1, 2}, 2);
        perp_problem_free(p);
    }
}

/* ---- what is refused ---- */

#define FRICTION "kind: friction\n"

static const refusal yaml_refusals[] = {
    {"W: [[1]]\n", 1, 1, "`kind` is missing; write `kind: friction`"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\nmu: [1]\n", 1, 1, "`dim` is missing"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\ndim: 2\n", 1, 1, "`mu` is missing"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\ndim: 4\nmu: [1]\n", 4, 6, "write 2 (n, t) or 3 (n, t, o)"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\ndim: 2.5\nmu: [1]\n", 4, 6, "whole number"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\ndim: 3\nmu: [1]\n", 2, 4, "2 rows, which is no multiple of dim, 3"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\ndim: 2\nmu: [1, 2]\n", 5, 5, "2 entries, but W has 2 rows: 1 contact"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0]\ndim: 2\nmu: [1]\n", 3, 4, "1 entry, but W has 2 rows"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\ndim: 2\nmu: [-0.5]\n", 5, 6, "the friction -0.5 is negative"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\ndim: 2\nmu: [.inf]\n", 5, 6, "finite"},
    {FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\ndim: 2\nmu: 0.5\n", 5, 5, "a list of numbers"},
    {FRICTION "W: [[1, 0]]\nq: [0, 0]\ndim: 2\nmu: [1]\n", 2, 5, "W must be square"},
    {FRICTION "W: []\nq: []\ndim: 2\nmu: []\n", 2, 4, "W has no rows"},
    {FRICTION "W: [[1, 0], [0, 1]]\nM: []\nq: [0, 0]\ndim: 2\nmu: [1]\n", 3, 1, "unknown key `M`"},
};

#define DENSE "2 1\n0 2 2\n2 2\n"
#define BLOCKS "2 1\n1 2 2\n1 1 1\n2\n2\n"
#define SPARSE "2 1\n2 2 2\n"

static const refusal dat_refusals[] = {
    {"", 1, 1, "expected the dimension of a contact, 2 to 3, but the file ends here"},
    {"4 1", 1, 1, "2 to 3, but found `4`"},
    {"3\n0\n", 2, 1, "the number of contacts, 1 to 1333, but found `0`"},
    {"3\n2000\n", 2, 1, "1 to 1333, but found `2000`"},
    {"3\n-1\n", 2, 1, "found `-1`"},
    {"3\n1.0\n", 2, 1, "found `1.0`"},
    {"3\n99999999999999999999\n", 2, 1, "found `9999999999"},
    {"2 1\n3 2 2\n", 2, 1, "the storage of W (dense, blocks, sparse), 0 to 2, but found `3`"},
    {"2 1\n0 4 4\n", 2, 3, "rows of W is 4, but 1 contacts of 2 make 2; of Siconos' friction problems the local ones"},
    {"2 1\n0 2 3\n", 2, 5, "columns of W is 3"},
    {"2 500\n0 1000 1000\n1000 1000\n1 2 3", 2, 12, "too short for the 1500 entries of q and mu"},
    {"2 1\n0 2 2\n2 3\n1 0 0 1 0 0 1\n", 3, 3, "the number of columns again, 2, but found `3`"},
    {DENSE "1 0 0", 4, 6, "an entry of W, but the file ends here"},
    {DENSE "1 0 nan 1\n0 0\n1\n", 4, 5, "an entry of W, but found `nan`"},
    {DENSE "1 0 inf 1\n0 0\n1\n", 4, 5, "found `inf`"},
    {DENSE "1 0 0x10 1\n0 0\n1\n", 4, 5, "found `0x10`"},
    {DENSE "1 0 1e999 1\n0 0\n1\n", 4, 5, "found `1e999`"},
    {DENSE "1 0 1,5 1\n0 0\n1\n", 4, 5, "found `1,5`"},
    {DENSE "1 0 1-2 1\n0 0\n1\n", 4, 5, "found `1-2`"},
    {DENSE "1 0 0 1\n0 q\n1\n", 5, 3, "an entry of q, but found `q`"},
    {DENSE "1 0 0 1\n0 0\n-1\n", 6, 1, "a friction of at least 0, but found `-1`"},
    {DENSE "1 0 0 1\n0 0\n1\n0\n7\n", 8, 1, "nothing more after mu"},
    {DENSE "1 0 0 1\n0 0\n1\n2\n", 7, 1, "nothing more after mu"},
    {"2 1\n1 2 2\n1 9 1\n", 3, 3, "the number of block rows, 1 to 2"},
    {"2 1\n1 2 2\n1 1 1\n3\n2\n2 1 0 1 0 0\n", 4, 1, "the end of a block row, 2, but found `3`"},
    {"2 1\n1 2 2\n1 2 1\n2 2 2\n3 1 0 1 1 0 0\n", 4, 1, "the end of a block row, 1, but found `2`"},
    {"2 1\n1 2 2\n900000 1 1\n", 3, 11, "too short for the 900002 indices of blocks"},
    {BLOCKS "2 2\n", 6, 3, "the length of index2, 1"},
    {BLOCKS "2 1\n1 1\n0\n", 7, 1, "the begin of index1, 0"},
    {BLOCKS "2 1\n0 2\n0\n", 7, 3, "an entry of index1, 1, but found `2`"},
    {BLOCKS "2 1\n0 1\n1\n", 8, 1, "a block column, 0"},
    {BLOCKS "2 1\n0 1\n0\n1 0 0 0 0\n", 9, 1, "the number of the block, 0, but found `1`"},
    {BLOCKS "2 1\n0 1\n0\n0 1e308 0 0 x\n0 0 1", 9, 13, "an entry of W, but found `x`"},
    {SPARSE "4\n0 0 1", 3, 1, "the origin of a sparse matrix, 1 to 3"},
    {SPARSE "1\nMatrix\n", 4, 1, "expected `CSparse`"},
    {SPARSE "1\nCSparse x\ncsr: 2-by-2,", 5, 1, "expected `triplet:`, but found `csr:`"},
    {SPARSE "2\nCSparse x\n2-by-3,", 5, 1, "expected `2-by-2,`, but found `2-by-3,`"},
    {SPARSE "2\nCSparse x\n2-by-2, nzmax: 1 nnz: 1.5,", 5, 23, "the number of entries, but found `1.5`"},
    {SPARSE "2\nCSparse x\n2-by-2, nzmax: 1 nnz: 100000, 1-norm: 1\n", 5, 40, "too short for the 100000 entries"},
    {SPARSE "2\nCSparse x\n2-by-2, nzmax: 1 nnz: 1, 1-norm: 1\ncol 1 : ", 6, 5, "its number, 0, but found `1`"},
    {SPARSE "2\nCSparse x\n2-by-2, nzmax: 1 nnz: 1, 1-norm: 1\ncol 0 : locations 0 to 1\n", 6, 24, "the last location"},
    {SPARSE "2\nCSparse x\n2-by-2, nzmax: 1 nnz: 1, 1-norm: 1\ncol 0 : locations 0 to 0\n2 : 1\n", 7, 1,
     "a row of W, 0 to 1, but found `2`"},
    {SPARSE "3\nCSparse x\ncsr: 2-by-2, nzmax: 1 nnz: 1, 1-norm: 1\nrow 0 : locations 0 to 0\n2 : 1\n", 7, 1,
     "a column of W, 0 to 1, but found `2`"},
    {SPARSE "1\nCSparse x\ntriplet: 2-by-2, nzmax: 2 nnz: 2\n0 2 : 1\n", 6, 3, "a column of W, 0 to 1, but found `2`"},
    {SPARSE "1\nCSparse x\ntriplet: 2-by-2, nzmax: 2 nnz: 2\n0 0 : 1e308\n0 0 : 1e308\n0 0 1\n", 7, 12,
     "entry (0, 0) of W adds up to more than a double holds"},
};

static void refusals_name_the_place(void **state)
{
    (void)state;
    assert_refusals(yaml_refusals, sizeof yaml_refusals / sizeof *yaml_refusals, "p", yaml_is_refused, &diagnostics);
    assert_refusals(dat_refusals, sizeof dat_refusals / sizeof *dat_refusals, "p", dat_is_refused, &diagnostics);
}

static void assert_places(int count, const int places[][2])
{
    bool good = diagnostics.errors == count;
    for (int k = 0; good && k < count; k++) {
        good = diagnostics.items[k].line == places[k][0] && diagnostics.items[k].column == places[k][1];
    }
    if (!good) {
        print_diagnostics(&diagnostics);
    }
    assert_true(good);
}

/* What one value is wrong about does not hide the others. */
static void all_errors_are_told(void **state)
{
    (void)state;
    assert_true(yaml_is_refused(FRICTION "dim: 5\nW: [[1, x], [0, 1]]\nq: [0, y, 3]\nmu: [-1, z]\n"));
    assert_places(5, (const int[][2]){{2, 6}, {3, 9}, {4, 4}, {4, 8}, {5, 10}});
    assert_true(yaml_is_refused("dim: 2\nW: [[1, x], [0, 1]]\nq: [0, y]\nmu: [-1]\n"));
    assert_places(4, (const int[][2]){{1, 1}, {2, 9}, {3, 8}, {4, 6}});
    assert_true(dat_is_refused("4 1")); /* what follows depends on it */
    assert_places(1, (const int[][2]){{1, 1}});
    assert_true(dat_is_refused(DENSE "1 a 0 b\nc 0\n-1\n"));
    assert_places(4, (const int[][2]){{4, 3}, {4, 7}, {5, 1}, {6, 1}});
}

/* A zero byte and a very long word are no reason to read on beyond them, or to believe them. */
static void strange_bytes(void **state)
{
    (void)state;
    perp_problem *problem;
    const char zero[] = "2 1 0 2 2 2 2 1 0\0 0 1 0 0 1";
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_problem_load_dat(zero, sizeof zero - 1, "p", NULL, &problem, &diagnostics),
                     PERP_STATUS_BAD_INPUT);
    char word[400] = "2 1 0 2 2 2 2 1 0 0 1 0 0 ";
    memset(word + strlen(word), '1', 200);
    assert_true(dat_is_refused(word));
    assert_non_null(strstr(diagnostics.items[0].message, "(cut)"));
}

static void files_by_their_ending(void **state)
{
    (void)state;
    char folder[] = "/tmp/perp-friction-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/p.dat", folder);
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(DENSE "1 0 0 1\n0 0\n1\n", file) >= 0);
    fclose(file);
    perp_problem *problem;
    memset(&diagnostics, 0, sizeof diagnostics);
    assert_int_equal(perp_problem_load_file(path, NULL, &problem, &diagnostics), PERP_STATUS_OK);
    assert_int_equal(problem->kind, PERP_PROBLEM_FRICTION);
    perp_problem_free(problem);
    unlink(path);
    assert_int_equal(perp_problem_load_file(path, NULL, &problem, &diagnostics), PERP_STATUS_BAD_INPUT);
    assert_string_equal(diagnostics.items[0].file, path);
    rmdir(folder);
}

static void lack_of_memory(void **state)
{
    (void)state;
    static const struct {
        load_function *read;
        const char *text;
    } cases[] = {{perp_problem_load_text, FRICTION "W: [[1, 0], [0, 1]]\nq: [0, 0]\ndim: 2\nmu: [1]\n"},
                 {perp_problem_load_dat, BLOCKS "2 1\n0 1\n0\n0 1 0 0 1\n0 0\n1\n"}};
    for (int k = 0; k < 4; k++) {
        bool done = false;
        for (int grants = 0; !done; grants++) {
            failing_allocator f = {.grants = grants, .once = k >= 2};
            const perp_allocator allocator = allocator_of(&f);
            perp_problem *problem;
            memset(&diagnostics, 0, sizeof diagnostics);
            const char *text = cases[k % 2].text;
            const perp_status status = cases[k % 2].read(text, strlen(text), "p", &allocator, &problem, &diagnostics);
            done = f.requests <= grants;
            assert_int_equal(status, done ? PERP_STATUS_OK : PERP_STATUS_OUT_OF_MEMORY);
            assert_true(done || (!problem && diagnostics.errors == 1));
            perp_problem_free(problem);
            assert_int_equal(f.standing, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml),
        cmocka_unit_test(dat),
        cmocka_unit_test(empty_matrices),
        cmocka_unit_test(refusals_name_the_place),
        cmocka_unit_test(all_errors_are_told),
        cmocka_unit_test(strange_bytes),
        cmocka_unit_test(files_by_their_ending),
        cmocka_unit_test(lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
