/* libFuzzer target: arbitrary bytes as a run log. The first byte chooses: a whole file, or the records of one chunk
 * behind the head of a sound log, so that the fuzzer reaches messages without having to guess a checksum. What opens
 * must be readable step by step without harm: bodies in range, numbers finite, the same again when read twice. */
#include <perp/perp.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a sound head, and a limit on memory --------------------------------------------------------------------------
 */

static unsigned char head[65536];
static size_t head_size;
static perp_model *model;
static perp_state state;

static ptrdiff_t take(void *context, const void *bytes, size_t size)
{
    (void)context;
    if (size > sizeof head - head_size) {
        abort();
    }
    memcpy(head + head_size, bytes, size);
    head_size += size;
    return (ptrdiff_t)size;
}

static void make_head(void)
{
    static const char text[] = "perp: 1\nname: fuzz\nplanar: true\nbodies:\n"
                               "  ground: {fixed: true, shapes: [{halfplane: {normal: [0, 1], offset: 0}}]}\n"
                               "  disc: {mass: 1, pose: {position: [0, 1]}, shapes: [{disc: 1}]}\n"
                               "run: {model: quasidynamic, h: 0.01, steps: 3}\n";
    static perp_diagnostics diagnostics;
    perp_scene *scene;
    perp_log *log;
    const perp_log_sink sink = {.write = take};
    const perp_log_file file = {.name = "scene.yaml", .bytes = text, .size = sizeof text - 1};
    perp_log_options options = perp_log_options_default();
    options.chunk_seconds = INFINITY;
    if (perp_scene_load_text(text, sizeof text - 1, "fuzz", NULL, NULL, &scene, &diagnostics) != PERP_STATUS_OK ||
        perp_model_build(scene, NULL, &model, NULL) != PERP_STATUS_OK ||
        perp_state_create(model, NULL, &state, NULL) != PERP_STATUS_OK) {
        abort();
    }
    const perp_log_about about = {.model = model, .file_count = 1, .files = &file};
    if (perp_log_create_sink(&sink, &about, &options, &log, NULL) != PERP_STATUS_OK) {
        abort();
    }
    const size_t size = head_size;
    perp_log_close(log, NULL, NULL, NULL);
    head_size = size; /* without the end */
}

enum { MOST_MEMORY = 1 << 28 };

static size_t taken;

static void *allocate(void *context, size_t size)
{
    (void)context;
    if (size > MOST_MEMORY - taken) {
        return NULL;
    }
    size_t *block = malloc(size + 16);
    if (block) {
        *block = size;
        taken += size;
    }
    return block ? (char *)block + 16 : NULL;
}

static void release(void *context, void *memory)
{
    (void)context;
    size_t *block = (size_t *)(void *)((char *)memory - 16);
    taken -= *block;
    free(block);
}

/* ---- what must hold -------------------------------------------------------------------------------------------------
 */

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_contacts(const perp_log_head *about, const perp_log_step *step)
{
    char feature[64];
    for (int i = 0; i < step->info.contact_count; i++) {
        const perp_contact_record *r = &step->info.contacts[i];
        require(r->contact.a >= 0 && r->contact.a < about->body_count);
        require(r->contact.b >= 0 && r->contact.b < about->body_count);
        require(isfinite(r->fn) && isfinite(r->contact.phi) && r->contact.direction_count <= 2);
        require(r->element_start >= 0 && r->element_count >= 0 &&
                r->element_start + r->element_count <= step->info.element_count);
        for (int e = 0; e < r->element_count; e++) {
            const perp_element_record *x = &step->info.elements[r->element_start + e];
            require(isfinite(x->fn) && isfinite(x->limit) && isfinite(x->offset[0] + x->offset[1]));
        }
        perp_contact_feature_text(&r->contact, feature, sizeof feature);
        require(!step->why || !step->why[i] || strlen(step->why[i]) < MOST_MEMORY);
    }
    for (int i = 0; i < step->info.event_count; i++) {
        require(step->info.events[i].a < about->body_count && memchr(step->info.events[i].feature, 0, 64));
    }
}

static void check_step(const perp_log_head *about, const perp_log_step *step)
{
    require(isfinite(step->t) && step->step >= 0);
    for (int i = 0; i < about->nq; i++) {
        require(isfinite(step->q[i]));
    }
    for (int i = 0; i < about->body_count * about->pose_size; i++) {
        require(isfinite(step->poses[i]));
    }
    check_contacts(about, step);
}

static void count_text(void *context, const char *text)
{
    *(size_t *)context += strlen(text);
}

/* Whatever the numbers are, a picture of them has none that is not finite. */
static void draw(perp_log_reader *reader, const perp_allocator *allocator)
{
    perp_plot_options options = perp_plot_options_default();
    char *text;
    options.allocator = allocator;
    if (perp_plot_text(reader, &options, &text, NULL) == PERP_STATUS_OK) {
        for (const char *quote = strchr(text, '"'); quote; quote = strchr(quote + 1, '"')) {
            require(strncmp(quote, "\"nan", 4) != 0 && strncmp(quote, "\"-nan", 5) != 0 &&
                    strncmp(quote, "\"inf", 4) != 0 && strncmp(quote, "\"-inf", 5) != 0);
        }
        perp_text_free(text);
    }
}

static void read_all(perp_log_reader *reader, perp_log_reader *twin)
{
    const perp_log_head *about = perp_log_reader_head(reader);
    const perp_log_extent extent = perp_log_reader_extent(reader);
    perp_log_step step;
    perp_run_start start;
    perp_log_difference difference;
    size_t length = 0;
    int readable = 0, last = -1;
    for (int i = 0; i < extent.step_count; i++) {
        if (perp_log_read(reader, i, &step, NULL) == PERP_STATUS_OK) {
            check_step(about, &step);
            require(step.step > last && perp_log_find(reader, step.step) == i);
            last = step.step;
            readable++;
        }
        if (perp_log_skim(reader, i, PERP_LOG_EXTREMES, &step, NULL) == PERP_STATUS_OK) {
            check_contacts(about, &step);
        }
        if (perp_log_skim(reader, i, PERP_LOG_PICTURE, &step, NULL) == PERP_STATUS_OK) {
            check_contacts(about, &step);
        }
    }
    perp_log_export_json(reader, count_text, &length, NULL);
    if (perp_log_resume(reader, model, &state, &start, NULL) == PERP_STATUS_OK) {
        require(start.step >= 0 && isfinite(start.t_start));
    }
    if (readable == extent.step_count && perp_log_compare(reader, twin, 0.0, &difference, NULL) == PERP_STATUS_OK) {
        require(difference.equal);
    }
}

/* The records as an uncompressed chunk without a checksum, behind the sound head. */
static size_t wrap(const uint8_t *data, size_t size, unsigned char *file)
{
    size_t at = head_size;
    const uint64_t fields[] = {8 + 8 + 8 + 4 + 4 + 8 + size, 0, 0, size};
    memcpy(file, head, head_size);
    file[at++] = 6;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 8; k++) {
            file[at++] = (unsigned char)(fields[i] >> (8 * k));
        }
    }
    memset(file + at, 0, 8); /* no checksum, no compression */
    at += 8;
    for (int k = 0; k < 8; k++) {
        file[at++] = (unsigned char)((uint64_t)size >> (8 * k));
    }
    memcpy(file + at, data, size);
    return at + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const perp_allocator allocator = {allocate, release, NULL};
    if (!model) {
        make_head();
    }
    if (size == 0) {
        return 0;
    }
    unsigned char *file = malloc(head_size + size + 64);
    require(file != NULL);
    size_t length = size - 1;
    if (data[0] & 1) {
        length = wrap(data + 1, size - 1, file);
    } else {
        memcpy(file, data + 1, size - 1);
    }
    perp_log_reader *reader, *twin;
    if (perp_log_open_memory(file, length, &allocator, &reader, NULL) == PERP_STATUS_OK &&
        perp_log_open_memory(file, length, NULL, &twin, NULL) == PERP_STATUS_OK) {
        read_all(reader, twin);
        draw(reader, &allocator);
        perp_log_reader_free(twin);
    }
    perp_log_reader_free(reader);
    require(taken == 0);
    free(file);
    return 0;
}
