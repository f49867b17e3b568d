/* state.csv and contacts.csv: what is in them, and that nothing half-written is ever left under their names. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <perp/trace.h>
#include <perp/sim.h>

/* ---- folders ----------------------------------------------------------------------------------------------------- */

static char folder[64]; /* a fresh one for each test */

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/perp-csv-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_tree(const char *path)
{
    DIR *directory = opendir(path);
    if (directory) {
        for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
            char inner[512];
            snprintf(inner, sizeof inner, "%s/%.250s", path, entry->d_name);
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
                remove_tree(inner);
            }
        }
        closedir(directory);
    }
    return remove(path);
}

static int teardown(void **state)
{
    (void)state;
    chmod(folder, 0700);
    return remove_tree(folder);
}

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static int count_files(const char *path)
{
    DIR *directory = opendir(path);
    assert_non_null(directory);
    int count = -2; /* . and .. */
    while (readdir(directory)) {
        count++;
    }
    closedir(directory);
    return count;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The whole file; the caller frees it. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fail_msg("no file %s", path);
    }
    char *text = malloc(1 << 20);
    assert_non_null(text);
    const size_t length = fread(text, 1, (1 << 20) - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static void check_file(const char *path, const char *expected)
{
    char *text = read_file(path);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

enum { STEPS = 5, COLUMNS = 60 };

typedef struct world {
    perp_scene *scene;
    perp_model *model;
    perp_state state;
} world;

static void add_body(perp_scene *s, perp_body body)
{
    assert_int_equal(perp_scene_add_body(s, &body, NULL), PERP_STATUS_OK);
}

static void add_jointed(perp_scene *s, perp_joint_kind kind, const char *joint_name, const char *body_name)
{
    add_body(s, perp_body_default(body_name));
    perp_joint joint = perp_joint_default(joint_name, kind);
    joint.child = body_name;
    joint.axis_set = kind != PERP_JOINT_BALL && kind != PERP_JOINT_FIXED;
    joint.axis = joint.axis_set ? perp_vec3_make(0, 0, 1) : perp_vec3_make(0, 0, 0);
    joint.control = kind == PERP_JOINT_REVOLUTE ? PERP_CONTROL_POSITION : PERP_CONTROL_NONE;
    joint.command_set = kind == PERP_JOINT_REVOLUTE;
    joint.command.rate = kind == PERP_JOINT_REVOLUTE ? 1.0 / 3.0 : 0.0;
    assert_int_equal(perp_scene_add_joint(s, &joint, NULL), PERP_STATUS_OK);
}

/* Bodies: ground (fixed), cart (driven), sled (free along x), and the children of the joints. */
static void world_open(world *w, bool planar)
{
    static perp_diagnostics diagnostics;
    perp_scene *s;
    assert_int_equal(perp_scene_create(planar, NULL, &s, NULL), PERP_STATUS_OK);
    perp_body ground = perp_body_default("ground");
    ground.kind = PERP_BODY_FIXED;
    add_body(s, ground);
    perp_body cart = perp_body_default("cart");
    cart.kind = PERP_BODY_DRIVEN;
    cart.driven_mask = PERP_COMPONENT_X | PERP_COMPONENT_RZ;
    cart.drives[0] = (perp_drive){.offset = 0.1, .rate = 0.7};
    cart.drives[5] = (perp_drive){.rate = 1.1};
    add_body(s, cart);
    perp_body sled = perp_body_default("sled");
    sled.mass = perp_set(1.0);
    sled.free_set = true;
    sled.free_mask = PERP_COMPONENT_X;
    sled.velocity_set = true;
    sled.velocity.linear.x = 2.5;
    add_body(s, sled);
    add_jointed(s, PERP_JOINT_REVOLUTE, "hinge", "door");
    add_jointed(s, PERP_JOINT_FIXED, "glue", "tile");
    add_jointed(s, PERP_JOINT_PLANAR, "slide", "puck");
    if (!planar) {
        add_jointed(s, PERP_JOINT_BALL, "socket", "leg");
    }
    assert_int_equal(perp_scene_set_model(s, "kinematic", NULL), PERP_STATUS_OK);
    s->run.h = 0.1;
    s->run.steps_set = true;
    s->run.steps = STEPS;
    memset(&diagnostics, 0, sizeof diagnostics);
    if (perp_scene_validate(s, &diagnostics) != PERP_STATUS_OK) {
        fail_msg("%s: %s", diagnostics.items[0].path, diagnostics.items[0].message);
    }
    w->scene = s;
    assert_int_equal(perp_model_build(s, NULL, &w->model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(w->model, NULL, &w->state, NULL), PERP_STATUS_OK);
}

static void world_close(world *w)
{
    perp_state_free(&w->state);
    perp_model_free(w->model);
    perp_scene_free(w->scene);
}

/* Passes every state on to the CSV and keeps q and v of it. */
typedef struct recorder {
    const world *world;
    perp_csv *csv;
    int rows;
    double t[STEPS + 1], q[STEPS + 1][COLUMNS], v[STEPS + 1][COLUMNS];
} recorder;

static bool record(void *context, int step, const perp_state *state, const perp_step_info *info)
{
    recorder *r = context;
    r->t[step] = state->t;
    memcpy(r->q[step], state->q, (size_t)r->world->model->nq * sizeof(double));
    memcpy(r->v[step], state->v, (size_t)r->world->model->nv * sizeof(double));
    r->rows++;
    return perp_csv_observe(r->csv, step, state, info);
}

static perp_csv *open_csv(const world *w, const char *path)
{
    perp_csv *csv = NULL;
    perp_error error;
    if (perp_csv_open(w->model, path, &csv, &error) != PERP_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    assert_non_null(csv);
    return csv;
}

static perp_status run(world *w, perp_observer *observer, void *context)
{
    perp_run_result result;
    const perp_status status = perp_run(w->model, &w->scene->run, NULL, observer, context, &w->state, &result, NULL);
    perp_run_result_free(&result);
    return status;
}

static const char contacts_header[] = "step,t,a,b,feature,mode,phi,px,py,pz,nx,ny,nz,tx,ty,tz,fn,ft1,ft2,slip1,slip2\n";

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/* One row of numbers; returns where the next one starts. */
static const char *read_row(const char *text, int *count, double values[2 * COLUMNS])
{
    *count = 0;
    for (;;) {
        char *end;
        values[*count] = strtod(text, &end);
        assert_ptr_not_equal(end, text);
        *count += 1;
        assert_true(*end == ',' || *end == '\n');
        assert_true(*count < 2 * COLUMNS || *end == '\n');
        text = end + 1;
        if (*end == '\n') {
            return text;
        }
    }
}

/* Bodies in the scene's order with full poses, then joints; the same names behind v: for the rates. */
static void test_contents(void **state)
{
    (void)state;
    static const char *const headers[2] = {
        "step,t,cart.x,cart.y,cart.z,cart.qw,cart.qx,cart.qy,cart.qz,sled.x,sled.y,sled.z,sled.qw,sled.qx,sled.qy,"
        "sled.qz,hinge,slide.x,slide.y,slide.theta,socket.qw,socket.qx,socket.qy,socket.qz,"
        "v:cart.x,v:cart.y,v:cart.z,v:cart.rx,v:cart.ry,v:cart.rz,v:sled.x,v:sled.y,v:sled.z,v:sled.rx,v:sled.ry,"
        "v:sled.rz,v:hinge,v:slide.x,v:slide.y,v:slide.theta,v:socket.rx,v:socket.ry,v:socket.rz\n",
        "step,t,cart.x,cart.y,cart.theta,sled.x,sled.y,sled.theta,hinge,slide.x,slide.y,slide.theta,"
        "v:cart.x,v:cart.y,v:cart.theta,v:sled.x,v:sled.y,v:sled.theta,v:hinge,v:slide.x,v:slide.y,v:slide.theta\n"};
    for (int planar = 0; planar < 2; planar++) {
        world w;
        world_open(&w, planar);
        static recorder r;
        memset(&r, 0, sizeof r);
        r.world = &w;
        r.csv = open_csv(&w, in_folder("run"));
        assert_int_equal(run(&w, record, &r), PERP_STATUS_OK);
        assert_int_equal(perp_csv_commit(r.csv, NULL), PERP_STATUS_OK);
        assert_int_equal(count_files(in_folder("run")), 2);
        check_file(in_folder("run/contacts.csv"), contacts_header);
        char *text = read_file(in_folder("run/state.csv"));
        assert_memory_equal(text, headers[planar], strlen(headers[planar]));
        const char *row = text + strlen(headers[planar]);
        const int nq = w.model->nq, twist = planar ? 3 : 6;
        const perp_link *cart = &w.model->links[1], *sled = &w.model->links[2], *door = &w.model->links[3];
        for (int k = 0; k <= STEPS; k++) { /* the first row is step 0 */
            double values[2 * COLUMNS];
            int count;
            row = read_row(row, &count, values);
            assert_int_equal(count, 2 + nq + (planar ? 10 : 19));
            assert_true(values[0] == k);
            assert_true(values[1] == r.t[k] && values[1] == k * 0.1);
            /* Here q is in the order of the columns, and 17 digits bring every bit back. */
            assert_int_equal(cart->q_start, 0);
            assert_memory_equal(values + 2, r.q[k], (size_t)nq * sizeof(double));
            const double *rates = values + 2 + nq;
            assert_memory_equal(rates, r.v[k] + cart->v_start, (size_t)twist * sizeof(double));
            assert_true(rates[twist] == r.v[k][sled->v_start]);
            assert_true(rates[twist] == (k == 0 ? 2.5 : 0.0)); /* kinematic: what is free stays */
            for (int i = 1; i < twist; i++) {
                assert_true(rates[twist + i] == 0.0); /* locked */
            }
            assert_true(rates[2 * twist] == r.v[k][door->v_start]);
        }
        assert_int_equal(*row, '\0');
        free(text);
        remove_tree(in_folder("run"));
        world_close(&w);
    }
}

/* A cube (planar: square) of side 2 comes down on a table at 0.5 m/s and moves along x at 0.25 m/s: from step 2 on its
 * lowest corners are within the margin. All numbers are sums of powers of two, so they are exact. */
static void open_landing(world *w, bool planar)
{
    perp_diagnostics *diagnostics = calloc(1, sizeof *diagnostics);
    assert_non_null(diagnostics);
    assert_int_equal(perp_scene_create(planar, NULL, &w->scene, NULL), PERP_STATUS_OK);
    perp_body table = perp_body_default("table"), cube = perp_body_default("cube");
    const perp_shape ground = {.kind = planar ? PERP_SHAPE_HALFPLANE : PERP_SHAPE_PLANE,
                               .pose = perp_placement_default(),
                               .normal = {0, planar ? 1 : 0, planar ? 0 : 1}};
    const perp_shape box = {.kind = PERP_SHAPE_BOX, .pose = perp_placement_default(), .size = {2, 2, planar ? 0 : 2}};
    table.kind = PERP_BODY_FIXED;
    table.shapes = &ground;
    cube.kind = PERP_BODY_DRIVEN;
    cube.driven_mask = PERP_COMPONENT_X | (planar ? (unsigned)PERP_COMPONENT_Y : (unsigned)PERP_COMPONENT_Z);
    cube.drives[0] = (perp_drive){.rate = 0.25};
    cube.drives[planar ? 1 : 2] = (perp_drive){.offset = 1.25, .rate = -0.5};
    cube.shapes = &box;
    table.shape_count = cube.shape_count = 1;
    add_body(w->scene, table);
    add_body(w->scene, cube);
    assert_int_equal(perp_scene_set_model(w->scene, "kinematic", NULL), PERP_STATUS_OK);
    w->scene->margin = 0.15;
    w->scene->run.h = 0.125;
    w->scene->run.steps_set = true;
    w->scene->run.steps = 6;
    assert_int_equal(perp_scene_validate(w->scene, diagnostics), PERP_STATUS_OK);
    free(diagnostics);
    assert_int_equal(perp_model_build(w->scene, NULL, &w->model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(w->model, NULL, &w->state, NULL), PERP_STATUS_OK);
}

/* One row of contacts.csv: the gap, the corner's place, the frame and the slip at the end of that step; returns the
 * corner, as a bit. */
static unsigned check_contact_row(const char *row, int step, bool planar)
{
    char feature[64];
    int number, used = 0;
    double t;
    const char *rest = row;
    assert_int_equal(sscanf(row, "%d,%lf,table,cube,%63[^,],open,%n", &number, &t, feature, &used), 3);
    rest += used;
    assert_int_equal(number, step);
    assert_true(t == 0.125 * step);
    double v[15];
    for (int i = 0; i < 15; i++) {
        char *end;
        v[i] = strtod(rest, &end);
        assert_true(end != rest && *end == (i < 14 ? ',' : '\n'));
        assert_false(v[i] == 0.0 && signbit(v[i])); /* zero has no sign */
        rest = end + 1;
    }
    const double x = 0.25 * t, phi = 0.25 - 0.5 * t;
    const int up = planar ? 2 : 3;
    assert_true(v[0] == phi);
    assert_true(fabs(v[1] - x) == 1.0 && v[up] == 0.5 * phi); /* half-way between the corner and the table */
    assert_true(planar ? v[3] == 0.0 : fabs(v[2]) == 1.0);
    for (int k = 0; k < 3; k++) {
        assert_true(v[4 + k] == (k + 1 == up ? 1.0 : 0.0));
        assert_true(v[7 + k] == (k == 0 ? 1.0 : 0.0));
    }
    for (int k = 10; k < 15; k++) { /* fn, ft1, ft2, slip1, slip2 */
        assert_true(v[k] == (k == 13 ? 0.25 : 0.0));
    }
    assert_true(strncmp(feature, "s0.", 3) == 0 && strstr(feature, "-s0.c")); /* a surface, and a corner of the cube */
    return 1u << ((v[1] > x ? 1 : 0) + (!planar && v[2] > 0.0 ? 2 : 0));
}

static void test_contact_rows(void **state)
{
    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        world w;
        open_landing(&w, planar);
        perp_csv *csv = open_csv(&w, in_folder("run"));
        assert_int_equal(run(&w, perp_csv_observe, csv), PERP_STATUS_OK);
        assert_int_equal(perp_csv_commit(csv, NULL), PERP_STATUS_OK);
        char *text = read_file(in_folder("run/contacts.csv"));
        assert_memory_equal(text, contacts_header, strlen(contacts_header));
        const char *row = text + strlen(contacts_header);
        for (int step = 2; step <= 6; step++) { /* the gap is 0.125 at the end of step 2 */
            unsigned corners = 0;
            for (int i = 0; i < (planar ? 2 : 4); i++) {
                corners |= check_contact_row(row, step, planar);
                row = strchr(row, '\n') + 1;
            }
            assert_int_equal(corners, planar ? 3u : 15u); /* each corner once */
        }
        assert_int_equal(*row, '\0');
        free(text);
        remove_tree(in_folder("run"));
        world_close(&w);
    }
}

/* The folder is made if it is missing, its files are as readable as any other, and a second run replaces them. */
static void test_replaces(void **state)
{
    (void)state;
    world w;
    world_open(&w, true);
    const mode_t mask = umask(027);
    perp_csv *csv = open_csv(&w, in_folder("new"));
    assert_int_equal(run(&w, perp_csv_observe, csv), PERP_STATUS_OK);
    assert_int_equal(access(in_folder("new/state.csv"), F_OK), -1); /* not before it is whole */
    assert_int_equal(perp_csv_commit(csv, NULL), PERP_STATUS_OK);
    umask(mask);
    struct stat status;
    assert_int_equal(stat(in_folder("new/state.csv"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);

    write_file(in_folder("new/state.csv"), "old");
    write_file(in_folder("new/contacts.csv"), "old");
    csv = open_csv(&w, in_folder("new"));
    assert_int_equal(run(&w, perp_csv_observe, csv), PERP_STATUS_OK);
    assert_int_equal(perp_csv_commit(csv, NULL), PERP_STATUS_OK);
    check_file(in_folder("new/contacts.csv"), contacts_header);
    assert_int_equal(count_files(in_folder("new")), 2);
    world_close(&w);
}

/* ---- failing ----------------------------------------------------------------------------------------------------- */

static void check_refused(const world *w, const char *path)
{
    perp_csv *csv = (perp_csv *)folder; /* anything but NULL */
    perp_error error;
    memset(&error, 0, sizeof error);
    assert_int_equal(perp_csv_open(w->model, path, &csv, &error), PERP_STATUS_IO);
    assert_null(csv);
    assert_int_equal(error.status, PERP_STATUS_IO);
    assert_non_null(strstr(error.message, path)); /* says which */
    assert_int_equal(perp_csv_open(w->model, path, &csv, NULL), PERP_STATUS_IO);
}

static void test_cannot_open(void **state)
{
    (void)state;
    world w;
    world_open(&w, true);
    check_refused(&w, in_folder("missing/run")); /* makes the folder, not its parents */
    assert_int_equal(access(in_folder("missing"), F_OK), -1);
    write_file(in_folder("file"), "text");
    check_refused(&w, in_folder("file/run"));
    check_refused(&w, in_folder("file")); /* there is something of that name that is no folder */
    check_file(in_folder("file"), "text");
    assert_int_equal(count_files(folder), 1);
    world_close(&w);
}

/* Where the superuser writes anyway there is nothing to refuse. */
static void test_read_only_folder(void **state)
{
    (void)state;
    world w;
    world_open(&w, true);
    assert_int_equal(mkdir(in_folder("locked"), 0700), 0);
    write_file(in_folder("locked/state.csv"), "old");
    assert_int_equal(chmod(in_folder("locked"), 0500), 0);
    if (access(in_folder("locked"), W_OK) != 0) {
        check_refused(&w, in_folder("locked"));
        check_refused(&w, in_folder("locked/run"));
    }
    assert_int_equal(chmod(in_folder("locked"), 0700), 0);
    check_file(in_folder("locked/state.csv"), "old");
    assert_int_equal(count_files(in_folder("locked")), 1);
    world_close(&w);
}

static void write_old_files(void)
{
    write_file(in_folder("state.csv"), "old states");
    write_file(in_folder("contacts.csv"), "old contacts");
}

static void check_old_files(void)
{
    check_file(in_folder("state.csv"), "old states");
    check_file(in_folder("contacts.csv"), "old contacts");
    assert_int_equal(count_files(folder), 2); /* and nothing temporary */
}

static void test_abandon(void **state)
{
    (void)state;
    world w;
    world_open(&w, false);
    write_old_files();
    perp_csv *csv = open_csv(&w, folder);
    assert_int_equal(count_files(folder), 5); /* states, contacts and certificates, beside their place */
    assert_int_equal(run(&w, perp_csv_observe, csv), PERP_STATUS_OK);
    perp_csv_abandon(csv);
    check_old_files();
    perp_csv_abandon(open_csv(&w, folder)); /* before anything was written */
    check_old_files();
    perp_csv_abandon(NULL);
    world_close(&w);
}

/* Two writers in one folder do not disturb each other; the last to commit stays. */
static void test_two_writers(void **state)
{
    (void)state;
    world spatial, planar;
    world_open(&spatial, false);
    world_open(&planar, true);
    perp_csv *first = open_csv(&spatial, folder), *second = open_csv(&planar, folder);
    assert_int_equal(run(&spatial, perp_csv_observe, first), PERP_STATUS_OK);
    assert_int_equal(run(&planar, perp_csv_observe, second), PERP_STATUS_OK);
    assert_int_equal(perp_csv_commit(second, NULL), PERP_STATUS_OK);
    char *text = read_file(in_folder("state.csv"));
    assert_non_null(strstr(text, "cart.theta"));
    free(text);
    assert_int_equal(perp_csv_commit(first, NULL), PERP_STATUS_OK);
    text = read_file(in_folder("state.csv"));
    assert_null(strstr(text, "cart.theta"));
    free(text);
    assert_int_equal(count_files(folder), 2);
    world_close(&spatial);
    world_close(&planar);
}

/* ---- a full disk
 * -------------------------------------------------------------------------------------------------------- A limit on
 * the size of files makes write fail with EFBIG, as a full disk does with ENOSPC. It holds for this process' every
 * file, also for one that its output goes to, so nothing is asserted or printed while it stands. */
typedef struct full_disk_outcome {
    perp_status run, commit;
    perp_error error;
    double t; /* the last state's time */
} full_disk_outcome;

static full_disk_outcome run_on_full_disk(world *w, perp_csv *csv, rlim_t bytes, bool freed)
{
    full_disk_outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    struct rlimit before, small;
    struct sigaction ignore, handler;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, &handler);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
    outcome.run = run(w, perp_csv_observe, csv);
    if (freed) { /* somebody makes room before the commit: what was lost stays lost */
        setrlimit(RLIMIT_FSIZE, &before);
    }
    outcome.commit = perp_csv_commit(csv, &outcome.error);
    setrlimit(RLIMIT_FSIZE, &before);
    sigaction(SIGXFSZ, &handler, NULL);
    outcome.t = w->state.t;
    return outcome;
}

/* A long run stops at the first write that fails; a short one, whose rows wait in a buffer, learns it at commit. Either
 * way the earlier files stay and nothing else is left. */
static void test_full_disk(void **state)
{
    (void)state;
    static const int steps[] = {5000, 2, 5000};
    for (int i = 0; i < 3; i++) {
        world w;
        world_open(&w, false);
        w.scene->run.steps = steps[i];
        write_old_files();
        const full_disk_outcome outcome = run_on_full_disk(&w, open_csv(&w, folder), 600, i == 2);
        assert_int_equal(outcome.run, i == 1 ? PERP_STATUS_OK : PERP_STATUS_CANCELLED);
        assert_true(outcome.t < 400.0); /* not run to the end in vain */
        assert_int_equal(outcome.commit, PERP_STATUS_IO);
        assert_int_equal(outcome.error.status, PERP_STATUS_IO);
        assert_non_null(strstr(outcome.error.message, "state.csv"));
        check_old_files();
        world_close(&w);
    }
}

/* Nothing moves: state.csv is 11 bytes and fits, contacts.csv with its header does not. Then neither gets its name. */
static void test_all_or_none(void **state)
{
    (void)state;
    world w;
    perp_diagnostics *diagnostics = calloc(1, sizeof *diagnostics);
    assert_non_null(diagnostics);
    assert_int_equal(perp_scene_create(true, NULL, &w.scene, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_set_model(w.scene, "geometric", NULL), PERP_STATUS_OK);
    assert_int_equal(perp_scene_validate(w.scene, diagnostics), PERP_STATUS_OK);
    free(diagnostics);
    assert_int_equal(perp_model_build(w.scene, NULL, &w.model, NULL), PERP_STATUS_OK);
    assert_int_equal(perp_state_create(w.model, NULL, &w.state, NULL), PERP_STATUS_OK);
    write_old_files();
    const full_disk_outcome outcome = run_on_full_disk(&w, open_csv(&w, folder), 40, false);
    assert_int_equal(outcome.run, PERP_STATUS_OK);
    assert_int_equal(outcome.commit, PERP_STATUS_IO);
    assert_non_null(strstr(outcome.error.message, "contacts.csv"));
    check_old_files();
    perp_csv *csv = open_csv(&w, folder); /* with room it goes */
    assert_int_equal(run(&w, perp_csv_observe, csv), PERP_STATUS_OK);
    assert_int_equal(perp_csv_commit(csv, NULL), PERP_STATUS_OK);
    check_file(in_folder("state.csv"), "step,t\n0,0\n");
    check_file(in_folder("contacts.csv"), contacts_header);
    world_close(&w);
}

/* A name that cannot be taken, because a folder has it: said before the run, not after it. */
static void test_name_is_taken(void **state)
{
    (void)state;
    static const char *const names[] = {"state.csv", "contacts.csv"};
    world w;
    world_open(&w, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mkdir(in_folder(names[i]), 0700), 0);
        write_file(in_folder(names[1 - i]), "old");
        perp_csv *csv;
        perp_error error;
        assert_int_equal(perp_csv_open(w.model, folder, &csv, &error), PERP_STATUS_IO);
        assert_null(csv);
        assert_non_null(strstr(error.message, names[i]));
        check_file(in_folder(names[1 - i]), "old");
        assert_int_equal(count_files(folder), 2);
        assert_int_equal(rmdir(in_folder(names[i])), 0);
        assert_int_equal(remove(in_folder(names[1 - i])), 0);
    }
    world_close(&w);
}

/* The same while the run goes on. If it is state.csv, nothing is put in its place. If it is contacts.csv, the new
 * state.csv already is: two renames are not one. But it is whole, and nothing temporary is left. */
static void test_name_is_taken_meanwhile(void **state)
{
    (void)state;
    static const char *const names[] = {"state.csv", "contacts.csv"};
    for (int i = 0; i < 2; i++) {
        world w;
        world_open(&w, true);
        write_file(in_folder(names[1 - i]), "old");
        perp_csv *csv = open_csv(&w, folder);
        assert_int_equal(run(&w, perp_csv_observe, csv), PERP_STATUS_OK);
        assert_int_equal(mkdir(in_folder(names[i]), 0700), 0);
        perp_error error;
        assert_int_equal(perp_csv_commit(csv, &error), PERP_STATUS_IO);
        assert_non_null(strstr(error.message, names[i]));
        char *text = read_file(in_folder(names[1 - i]));
        assert_true(strcmp(text, "old") == 0 || (i == 1 && strstr(text, "\n5,0.5,")));
        free(text);
        assert_int_equal(count_files(folder), 2);
        assert_int_equal(rmdir(in_folder(names[i])), 0);
        assert_int_equal(remove(in_folder(names[1 - i])), 0);
        world_close(&w);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_contents),
        TEST(test_contact_rows),
        TEST(test_replaces),
        TEST(test_cannot_open),
        TEST(test_read_only_folder),
        TEST(test_abandon),
        TEST(test_two_writers),
        TEST(test_full_disk),
        TEST(test_all_or_none),
        TEST(test_name_is_taken),
        TEST(test_name_is_taken_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
