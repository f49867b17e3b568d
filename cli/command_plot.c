#include "plot_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A whole number, 1 or more unless `least` says otherwise; false: it is none. */
static bool read_count(const char *text, int least, int *value, char **end)
{
    const long number = strtol(text, end, 10);
    *value = (int)number;
    return *end != text && number >= least && number <= 1000000000;
}

/* "800" or "800x600". */
static bool read_size(const char *text, perp_plot_options *options)
{
    char *end;
    if (!read_count(text, 1, &options->width, &end)) {
        return false;
    }
    return *end == '\0' || (*end == 'x' && read_count(end + 1, 1, &options->height, &end) && *end == '\0');
}

static bool read_kind(const char *text, perp_plot_options *options)
{
    for (int i = 0; i < PERP_PLOT_COUNT; i++) {
        if (strcmp(text, perp_plot_kind_name((perp_plot_kind)i)) == 0) {
            options->kind = (perp_plot_kind)i;
            return true;
        }
    }
    return false;
}

static bool read_plane(const char *text, perp_plot_options *options)
{
    static const char *const names[] = {[PERP_PLANE_XY] = "xy", [PERP_PLANE_XZ] = "xz", [PERP_PLANE_YZ] = "yz"};
    for (int i = PERP_PLANE_XY; i <= PERP_PLANE_YZ; i++) {
        if (strcmp(text, names[i]) == 0) {
            options->plane = (perp_plot_plane)i;
            return true;
        }
    }
    return false;
}

static int unknown_kind(const char *text)
{
    const char *names[PERP_PLOT_COUNT];
    for (int i = 0; i < PERP_PLOT_COUNT; i++) {
        names[i] = perp_plot_kind_name((perp_plot_kind)i);
    }
    const char *nearest = cli_nearest(text, names, PERP_PLOT_COUNT);
    return nearest ? cli_fail(EXIT_USAGE, "plot: there is no plot `%s`; did you mean `%s`?", text, nearest)
                   : cli_fail(EXIT_USAGE, "plot: there is no plot `%s` (perp plot --help)", text);
}

/* An option that the kind of plot has no use for is a misunderstanding. */
static int check_kind(const cli_arguments *a, const perp_plot_options *options)
{
    enum {
        OF_CONTACTS = 1 << PERP_PLOT_GAPS | 1 << PERP_PLOT_FORCES | 1 << PERP_PLOT_CONE | 1 << PERP_PLOT_MODES |
                      1 << PERP_PLOT_PRESSURE,
        OF_JOINTS = 1 << PERP_PLOT_JOINTS,
        AT_STEPS = 1 << PERP_PLOT_SCENE | 1 << PERP_PLOT_PRESSURE,
        OF_BODIES = 1 << PERP_PLOT_PATH | 1 << PERP_PLOT_BODIES,
        SHEET = 1 << PERP_PLOT_SHEET
    };
    static const struct {
        const char *option;
        unsigned kinds;
        const char *about;
    } uses[] = {{"--contact", SHEET | OF_CONTACTS, "plots of contacts"},
                {"--joint", SHEET | OF_JOINTS, "plots of joints"},
                {"--most", SHEET | OF_CONTACTS | OF_JOINTS | OF_BODIES, "plots of contacts, joints or bodies"},
                {"--body", OF_BODIES, "paths and bodies"},
                {"--plane", OF_BODIES, "paths and bodies"},
                {"--step", SHEET | AT_STEPS, "the scene and for pressure"},
                {"--solution", ~(unsigned)SHEET, "one kind of plot: a sheet has the scenes of the first six"}};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (cli_value(a, uses[i].option) && !(uses[i].kinds >> options->kind & 1u)) {
            return cli_fail(EXIT_USAGE, "plot: %s is for %s; --what %s does not take it", uses[i].option, uses[i].about,
                            perp_plot_kind_name(options->kind));
        }
    }
    if (options->height > 0 && options->kind == PERP_PLOT_SHEET && !cli_value(a, "--map")) {
        return cli_fail(EXIT_USAGE, "plot: a sheet is as high as its parts: give --size WIDTH alone, or --what KIND");
    }
    return EXIT_DONE;
}

static int read_options(const cli_arguments *a, perp_plot_options *options)
{
    const char *what = cli_value(a, "--what"), *size = cli_value(a, "--size");
    const char *most = cli_value(a, "--most"), *step = cli_value(a, "--step");
    const char *solution = cli_value(a, "--solution");
    char *end = NULL;
    if (what && !read_kind(what, options)) {
        return unknown_kind(what);
    }
    if (size && !read_size(size, options)) {
        return cli_fail(EXIT_USAGE, "plot: --size needs WIDTH or WIDTHxHEIGHT in pixels, as in 800x600, not `%s`",
                        size);
    }
    if (most && (!read_count(most, 1, &options->most, &end) || *end)) {
        return cli_fail(EXIT_USAGE, "plot: --most needs a whole number, not `%s`", most);
    }
    if (step && (!read_count(step, 0, &options->step, &end) || *end)) {
        return cli_fail(EXIT_USAGE, "plot: --step needs the number of a step, 0 for the beginning, not `%s`", step);
    }
    if (solution && (!read_count(solution, 1, &options->solution, &end) || *end)) {
        return cli_fail(EXIT_USAGE, "plot: --solution needs a number, 1 for the first, not `%s`", solution);
    }
    options->solution -= solution ? 1 : 0;
    const char *plane = cli_value(a, "--plane");
    if (plane && !read_plane(plane, options)) {
        return cli_fail(EXIT_USAGE, "plot: --plane needs xy, xz or yz, not `%s`", plane);
    }
    return check_kind(a, options);
}

static int draw(const cli_arguments *a, perp_log_reader *reader, const perp_plot_options *options)
{
    const char *path = cli_value(a, "-o");
    char *text = NULL;
    perp_error error = {0};
    const perp_status status =
        path ? perp_plot_write(reader, options, path, &error) : perp_plot_text(reader, options, &text, &error);
    if (status != PERP_STATUS_OK) {
        const bool usage = error.code && strcmp(error.code, "bad-options") == 0;
        return usage ? cli_fail(EXIT_USAGE, "plot: %s", error.message) : cli_refuse(&error);
    }
    if (path) {
        printf("%s\n", path);
    } else {
        fputs(text, stdout);
    }
    perp_text_free(text);
    return EXIT_DONE;
}

/* Opens all logs, of which the first is `readers[0]`, and draws. */
static int open_and_draw(const cli_arguments *a, perp_plot_options *options)
{
    perp_log_reader *readers[PERP_PLOT_MOST_LOGS] = {0};
    int code = EXIT_DONE;
    for (int i = 0; i < a->operand_count && code == EXIT_DONE; i++) {
        code = cli_keep(a, a->operands[i], "-o");
        code = code == EXIT_DONE ? cli_open_log(a->operands[i], &readers[i]) : code;
    }
    if (code == EXIT_DONE) {
        options->other_count = a->operand_count - 1;
        options->others = readers + 1;
        code = draw(a, readers[0], options);
    }
    for (int i = 0; i < a->operand_count; i++) {
        perp_log_reader_free(readers[i]);
    }
    return code;
}

/* Tables and logs have their own options. */
static int check_map(const cli_arguments *a)
{
    static const char *const of_maps[] = {"--map", "--at", "--label", "--levels", "--json"}, *const of_both[] = {
                                                                                                 "-o", "--size"};
    const bool map = cli_value(a, "--map") != NULL;
    for (int i = 0; i < a->count; i++) {
        bool fits = false, both = false;
        for (size_t k = 0; k < sizeof of_maps / sizeof *of_maps; k++) {
            fits = fits || strcmp(a->options[i]->name, of_maps[k]) == 0;
        }
        for (size_t k = 0; k < sizeof of_both / sizeof *of_both; k++) {
            both = both || strcmp(a->options[i]->name, of_both[k]) == 0;
        }
        if (!both && fits != map) {
            return cli_fail(EXIT_USAGE,
                            map ? "plot: %s is for logs; a map of a table does not take it"
                                : "plot: %s is for maps of tables: --map X,Y,OUTPUT",
                            a->options[i]->name);
        }
    }
    return EXIT_DONE;
}

static int run(const cli_arguments *a)
{
    perp_plot_options options = perp_plot_options_default();
    int code = check_map(a);
    if (code != EXIT_DONE) {
        return code;
    }
    if (cli_value(a, "--map")) {
        code = read_options(a, &options);
        if (code == EXIT_DONE && !cli_value(a, "-o") && !cli_value(a, "--json") && isatty(STDOUT_FILENO)) {
            code = cli_fail(EXIT_USAGE, "plot: say where the picture goes: -o FILE.svg");
        }
        return code == EXIT_DONE ? cli_plot_map(a, options.width, options.height) : code;
    }
    const char **names = calloc(3 * (size_t)a->count + 1, sizeof *names);
    if (!names) {
        return cli_fail(EXIT_REFUSED, "out of memory");
    }
    options.contacts = names;
    options.contact_count = cli_values(a, "--contact", names);
    options.joints = options.contacts + options.contact_count;
    options.joint_count = cli_values(a, "--joint", names + options.contact_count);
    options.bodies = options.joints + options.joint_count;
    options.body_count = cli_values(a, "--body", names + options.contact_count + options.joint_count);
    code = read_options(a, &options);
    if (code == EXIT_DONE && !cli_value(a, "-o") && isatty(STDOUT_FILENO)) {
        code = cli_fail(EXIT_USAGE, "plot: say where the picture goes: -o FILE.svg");
    }
    if (code == EXIT_DONE) {
        code = open_and_draw(a, &options);
    }
    free(names);
    return code;
}

static const cli_option options[] = {
    {"--what", "KIND",
     "gaps, forces, cone, modes, joints, residuals, scene, pressure, energy, path or bodies; default: a sheet"},
    {"-o", "FILE.svg", "write here; default: standard output"},
    {"--contact", "NAME", "only this contact: \"a b\", \"a b feature\", or all of one body; again for more"},
    {"--joint", "NAME", "only this joint; again for more"},
    {"--body", "NAME", "of path and bodies: only the path of this body; again for more"},
    {"--plane", "AXES", "of path and bodies: xy (from above, default), xz (from the front) or yz"},
    {"--most", "N", "show at most N contacts, joints or bodies: the largest forces, the farthest travel"},
    {"--step", "N", "the step that a scene or pressure shows; default: the last"},
    {"--solution", "K", "of an instant: the solution that is shown, from 1"},
    {"--size", "WxH", "in pixels, at least 300x240; W alone, and always of a sheet: the height that suits"},
    {"--map", "X,Y,OUT", "of a table (CSV): OUT over the columns X and Y; further outputs, OUT,OUT2, as lines"},
    {"--at", "NAME=VALUE", "of a map: only rows with this value; again for more"},
    {"--label", "NAME=TEXT", "of a map: what a column is called, such as \"theta=tilt (rad)\"; again for more"},
    {"--levels", "A,B,..", "of a map of numbers: where its lines are; default: round numbers"},
    {"--json", NULL, "of a map: the areas of its regions and the lines between them, as JSON"},
};

const cli_command cli_plot = {
    .name = "plot",
    .operand = "FILE...",
    .operand_most = PERP_PLOT_MOST_LOGS,
    .summary = "draw a run log as SVG: forces, gaps, modes, cones, the scene; or a table as a map",
    .details =
        "examples:\n"
        "  perp run examples/gripper-2d/scene.yaml --log run.mcap\n"
        "  perp plot run.mcap -o run.svg                         everything on one sheet\n"
        "  perp plot run.mcap --what forces -o forces.svg        one kind, for a paper\n"
        "  perp plot run.mcap --what forces --contact \"left_finger sphere\" --size 480x240 -o left.svg\n"
        "  perp plot run.mcap --what cone -o cone.svg            each force inside its friction cone\n"
        "  perp plot run.mcap --what joints --joint lift -o lift.svg\n"
        "  perp plot run.mcap --what scene --step 14 -o step14.svg\n"
        "  perp plot run.mcap --what modes > modes.svg\n"
        "  perp plot run.mcap --what energy -o energy.svg        kinetic, of gravity, of springs, and their sum\n"
        "  perp plot qp.mcap ncp.mcap --what path -o path.svg    where bodies go; up to 4 logs in one picture\n"
        "  perp plot painleve.csv --map theta,mu,solutions -o painleve.svg    a table of perp sweep as a map\n"
        "  perp plot rod.csv --map mu1,mu2,stable --at kappa=0.1 --json       the areas of its regions\n\n"
        "Axes have units, colours can be told apart by everyone, and the same log gives the same bytes. Of many\n"
        "contacts those with the largest forces are shown, and how many are left out is said. docs/plots.md\n",
    .options = options,
    .option_count = (int)(sizeof options / sizeof *options),
    .run = run,
};
