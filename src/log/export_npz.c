/* A log as a NumPy archive: an uncompressed ZIP file of .npy arrays (version 1.0 of that format), little-endian. */
#include "log/read.h"
#include "trace/output_file.h"
#include "trace/state_view.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* One array: its rows are appended while the log is read. */
typedef struct table {
    const char *name, *type; /* "<f8", ...; NULL: text of `width` code points, "<U.." */
    int columns[2];          /* of a row; 0: there is no such axis */
    size_t width;
    byte_row row;
} table;

enum {
    STEP,
    TIME,
    Q,
    V,
    POSES,
    CONTACT_STEP,
    CONTACT_A,
    CONTACT_B,
    CONTACT_FEATURE,
    CONTACT_MODE,
    CONTACT_PHI,
    CONTACT_POINT,
    CONTACT_NORMAL,
    CONTACT_TANGENTS,
    CONTACT_MU,
    CONTACT_FN,
    CONTACT_FT,
    CONTACT_FORCE,
    CONTACT_SLIP,
    CONTACT_MARGIN,
    TRUST_STEP,
    TRUST_EXISTENCE,
    TRUST_UNIQUENESS,
    TRUST_RIGIDITY,
    TRUST_MOTION,
    TRUST_BOTH_WAYS,
    BODIES,
    Q_NAMES,
    V_NAMES,
    TABLES
};

static const table shapes[TABLES] = {
    [STEP] = {.name = "step", .type = "<i4"},
    [TIME] = {.name = "t", .type = "<f8"},
    [Q] = {.name = "q", .type = "<f8"},
    [V] = {.name = "v", .type = "<f8"},
    [POSES] = {.name = "poses", .type = "<f8"},
    [CONTACT_STEP] = {.name = "contact_step", .type = "<i4"},
    [CONTACT_A] = {.name = "contact_a", .type = "<i4"},
    [CONTACT_B] = {.name = "contact_b", .type = "<i4"},
    [CONTACT_FEATURE] = {.name = "contact_feature", .type = "|S64"},
    [CONTACT_MODE] = {.name = "contact_mode", .type = "<i4"},
    [CONTACT_PHI] = {.name = "contact_phi", .type = "<f8"},
    [CONTACT_POINT] = {.name = "contact_point", .type = "<f8", .columns = {3}},
    [CONTACT_NORMAL] = {.name = "contact_normal", .type = "<f8", .columns = {3}},
    [CONTACT_TANGENTS] = {.name = "contact_tangents", .type = "<f8", .columns = {2, 3}},
    [CONTACT_MU] = {.name = "contact_mu", .type = "<f8"},
    [CONTACT_FN] = {.name = "contact_fn", .type = "<f8"},
    [CONTACT_FT] = {.name = "contact_ft", .type = "<f8", .columns = {2}},
    [CONTACT_FORCE] = {.name = "contact_force_on_b", .type = "<f8", .columns = {3}},
    [CONTACT_SLIP] = {.name = "contact_slip", .type = "<f8", .columns = {2}},
    [CONTACT_MARGIN] = {.name = "contact_margin", .type = "<f8"},
    [TRUST_STEP] = {.name = "trust_step", .type = "<i4"},
    [TRUST_EXISTENCE] = {.name = "trust_existence", .type = "|S64"},
    [TRUST_UNIQUENESS] = {.name = "trust_uniqueness", .type = "|S64"},
    [TRUST_RIGIDITY] = {.name = "trust_rigidity", .type = "|S64"},
    [TRUST_MOTION] = {.name = "trust_motion", .type = "<f8"},
    [TRUST_BOTH_WAYS] = {.name = "trust_both_ways", .type = "<i4"},
    [BODIES] = {.name = "bodies"},
    [Q_NAMES] = {.name = "q_names"},
    [V_NAMES] = {.name = "v_names"},
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void put_reals(table *t, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        perp_bytes_u64(&t->row, bits);
    }
}

static void put_vector(table *t, perp_vec3 a)
{
    const double values[3] = {a.x, a.y, a.z};
    put_reals(t, values, 3);
}

static void put_contact(table *tables, int step, const perp_contact_record *record)
{
    const perp_contact *c = &record->contact;
    char feature[64] = {0};
    perp_contact_feature_text(c, feature, sizeof feature);
    perp_bytes_u32(&tables[CONTACT_STEP].row, (uint32_t)step);
    perp_bytes_u32(&tables[CONTACT_A].row, (uint32_t)c->a);
    perp_bytes_u32(&tables[CONTACT_B].row, (uint32_t)c->b);
    perp_bytes_put(&tables[CONTACT_FEATURE].row, feature, sizeof feature);
    perp_bytes_u32(&tables[CONTACT_MODE].row, (uint32_t)record->mode);
    put_reals(&tables[CONTACT_PHI], &c->phi, 1);
    put_vector(&tables[CONTACT_POINT], perp_contact_midpoint(c));
    put_vector(&tables[CONTACT_NORMAL], c->normal);
    put_vector(&tables[CONTACT_TANGENTS], c->t);
    put_vector(&tables[CONTACT_TANGENTS], c->o);
    put_reals(&tables[CONTACT_MU], &c->friction, 1);
    put_reals(&tables[CONTACT_FN], &record->fn, 1);
    put_reals(&tables[CONTACT_FT], record->ft, 2);
    put_vector(&tables[CONTACT_FORCE], record->force_on_b);
    put_reals(&tables[CONTACT_SLIP], record->slip, 2);
    put_reals(&tables[CONTACT_MARGIN], &record->margin, 1);
}

static void put_verdict(table *t, perp_verdict verdict)
{
    char text[64] = {0};
    snprintf(text, sizeof text, "%s", perp_verdict_name(verdict));
    perp_bytes_put(&t->row, text, sizeof text);
}

/* A motion is 0 where there is none. */
static void put_trust(table *tables, const perp_log_head *head, int step, const perp_step_trust *trust)
{
    perp_bytes_u32(&tables[TRUST_STEP].row, (uint32_t)step);
    put_verdict(&tables[TRUST_EXISTENCE], trust->existence);
    put_verdict(&tables[TRUST_UNIQUENESS], trust->uniqueness);
    put_verdict(&tables[TRUST_RIGIDITY], trust->rigidity);
    for (int i = 0; i < head->nv; i++) {
        const double rate = trust->motion ? trust->motion[i] : 0.0;
        put_reals(&tables[TRUST_MOTION], &rate, 1);
    }
    perp_bytes_u32(&tables[TRUST_BOTH_WAYS].row, trust->motion_both_ways);
}

static void put_step(table *tables, const perp_log_head *head, const perp_log_step *step)
{
    perp_bytes_u32(&tables[STEP].row, (uint32_t)step->step);
    put_reals(&tables[TIME], &step->t, 1);
    put_reals(&tables[Q], step->q, head->nq);
    put_reals(&tables[V], step->v, head->nv);
    put_reals(&tables[POSES], step->poses, head->body_count * head->pose_size);
    for (int i = 0; i < step->info.contact_count; i++) {
        put_contact(tables, step->step, &step->info.contacts[i]);
    }
    if (step->info.trust) {
        put_trust(tables, head, step->step, step->info.trust);
    }
}

/* Code points of UTF-8 text (jansson has checked it), each in 32 bits, filled up with zeros to the table's width;
 * unless `write` that is only widened to the text. */
static void put_text(table *t, const char *text, bool write)
{
    size_t count = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p; count++) {
        const int more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
        uint32_t point = more == 0 ? *p : *p & (0x3fu >> more);
        p++;
        for (int i = 0; i < more && *p; i++) {
            point = point << 6 | (*p++ & 0x3fu);
        }
        if (write) {
            perp_bytes_u32(&t->row, point);
        }
    }
    t->width = count > t->width ? count : t->width;
    for (size_t i = count; write && i < t->width; i++) {
        perp_bytes_u32(&t->row, 0);
    }
}

/* Twice: first how wide the widest is. */
static void put_names(table *t, const perp_log_head *head, bool rates)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < head->entry_count; i++) {
            const perp_log_entry *e = &head->entries[i];
            for (int k = 0; k < (rates ? e->nv : e->nq); k++) {
                char name[PERP_SCENE_MAX_NAME + 16];
                snprintf(name, sizeof name, "%.*s%s", PERP_SCENE_MAX_NAME, e->name, perp_state_ending(e->nq, rates, k));
                put_text(t, name, pass == 1);
            }
        }
    }
}

static void put_bodies(table *t, const perp_log_head *head)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < head->body_count; i++) {
            put_text(t, head->bodies[i], pass == 1);
        }
    }
}

/* ---- the archive ------------------------------------------------------------------------------------------------- */

static size_t element_size(const table *t)
{
    if (!t->type) {
        return 4 * (t->width > 0 ? t->width : 1);
    }
    return t->type[1] == 'S' ? 64 : (size_t)(t->type[2] - '0');
}

/* The head of a .npy file, in a multiple of 64 bytes. `rows`: how many the array has. */
static int npy_head(const table *t, size_t rows, char head[256])
{
    char type[24], shape[80];
    snprintf(type, sizeof type, "<U%zu", t->width > 0 ? t->width : 1);
    if (t->columns[1] > 0) {
        snprintf(shape, sizeof shape, "(%zu, %d, %d)", rows, t->columns[0], t->columns[1]);
    } else if (t->columns[0] > 0) {
        snprintf(shape, sizeof shape, "(%zu, %d)", rows, t->columns[0]);
    } else {
        snprintf(shape, sizeof shape, "(%zu,)", rows);
    }
    memcpy(head, "\x93NUMPY\x01", 7);
    head[7] = '\0';
    int length = 10 + snprintf(head + 10, 240, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                               t->type ? t->type : type, shape);
    while (length % 64 != 63) {
        head[length++] = ' ';
    }
    head[length++] = '\n';
    head[8] = (char)((length - 10) & 0xff);
    head[9] = (char)((length - 10) >> 8);
    return length;
}

/* The fields that a file's own head and the directory share. */
static void put_zip_fields(byte_row *row, uint32_t crc, uint32_t size, const char *name)
{
    perp_bytes_u16(row, 20);     /* version that is needed */
    perp_bytes_u16(row, 0);      /* flags */
    perp_bytes_u16(row, 0);      /* stored */
    perp_bytes_u16(row, 0);      /* no time: the same log gives the same bytes */
    perp_bytes_u16(row, 0x0021); /* 1 January 1980 */
    perp_bytes_u32(row, crc);
    perp_bytes_u32(row, size);
    perp_bytes_u32(row, size);
    perp_bytes_u16(row, (unsigned)strlen(name));
    perp_bytes_u16(row, 0);
}

/* Writes one array at `offset`, and its entry of the directory; returns the bytes written. */
static uint64_t write_array(FILE *out, const table *t, uint64_t offset, byte_row *directory, byte_row *scratch)
{
    const size_t columns =
        (size_t)(t->columns[0] > 0 ? t->columns[0] : 1) * (size_t)(t->columns[1] > 0 ? t->columns[1] : 1);
    char head[256], name[64];
    const int length = npy_head(t, t->row.size / (columns * element_size(t)), head);
    snprintf(name, sizeof name, "%s.npy", t->name);
    const uint32_t crc = perp_crc32(perp_crc32(0, head, (size_t)length), t->row.bytes, t->row.size);
    const uint32_t size = (uint32_t)(t->row.size + (size_t)length);
    perp_bytes_clear(scratch);
    perp_bytes_u32(scratch, 0x04034b50);
    put_zip_fields(scratch, crc, size, name);
    perp_bytes_text(scratch, name);
    perp_bytes_u32(directory, 0x02014b50);
    perp_bytes_u16(directory, 20);
    put_zip_fields(directory, crc, size, name);
    perp_bytes_u16(directory, 0); /* comment, disk, attributes */
    perp_bytes_u16(directory, 0);
    perp_bytes_u16(directory, 0);
    perp_bytes_u32(directory, 0);
    perp_bytes_u32(directory, (uint32_t)offset);
    perp_bytes_text(directory, name);
    if (!scratch->failed) {
        fwrite(scratch->bytes, 1, scratch->size, out);
        fwrite(head, 1, (size_t)length, out);
        fwrite(t->row.bytes, 1, t->row.size, out);
    }
    return scratch->size + size;
}

static perp_status write_archive(table *tables, const perp_allocator *allocator, FILE *out, perp_error *error)
{
    byte_row directory = {.allocator = allocator}, scratch = {.allocator = allocator};
    uint64_t offset = 0;
    for (int i = 0; i < TABLES; i++) {
        offset += write_array(out, &tables[i], offset, &directory, &scratch);
    }
    const uint32_t size = (uint32_t)directory.size;
    perp_bytes_u32(&directory, 0x06054b50);
    perp_bytes_u16(&directory, 0);
    perp_bytes_u16(&directory, 0);
    perp_bytes_u16(&directory, TABLES);
    perp_bytes_u16(&directory, TABLES);
    perp_bytes_u32(&directory, size);
    perp_bytes_u32(&directory, (uint32_t)offset);
    perp_bytes_u16(&directory, 0);
    const bool failed = directory.failed || scratch.failed;
    if (!failed) {
        fwrite(directory.bytes, 1, directory.size, out);
    }
    perp_bytes_free(&directory);
    perp_bytes_free(&scratch);
    return failed ? perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while exporting a log") : PERP_STATUS_OK;
}

static perp_status fill(perp_log_reader *r, table *tables, perp_error *error)
{
    const perp_log_head *head = &r->head;
    perp_status status = PERP_STATUS_OK;
    uint64_t total = 0;
    bool failed = false;
    tables[Q].columns[0] = head->nq;
    tables[V].columns[0] = tables[TRUST_MOTION].columns[0] = head->nv;
    tables[POSES].columns[0] = head->body_count;
    tables[POSES].columns[1] = head->pose_size;
    put_bodies(&tables[BODIES], head);
    put_names(&tables[Q_NAMES], head, false);
    put_names(&tables[V_NAMES], head, true);
    for (int i = 0; i < r->extent.step_count && status == PERP_STATUS_OK; i++) {
        perp_log_step step;
        status = perp_log_read(r, i, &step, error);
        if (status == PERP_STATUS_OK) {
            put_step(tables, head, &step);
        }
    }
    for (int i = 0; i < TABLES; i++) {
        failed = failed || tables[i].row.failed;
        total += tables[i].row.size + 512;
    }
    if (status == PERP_STATUS_OK && failed) {
        return perp_fail(error, PERP_STATUS_OUT_OF_MEMORY, "out of memory while exporting a log");
    }
    if (status == PERP_STATUS_OK && total >= UINT32_MAX) {
        return perp_fail(error, PERP_STATUS_CAPACITY,
                         "the log is too long for an .npz file (4 GB): use --csv or --json");
    }
    return status;
}

perp_status perp_log_export_npz(perp_log_reader *r, const char *path, perp_error *error)
{
    table tables[TABLES];
    memcpy(tables, shapes, sizeof tables);
    for (int i = 0; i < TABLES; i++) {
        tables[i].row.allocator = &r->allocator;
    }
    output_file file = {0};
    perp_status status = fill(r, tables, error);
    if (status == PERP_STATUS_OK) {
        status = perp_output_open(&file, NULL, path, error);
    }
    if (status == PERP_STATUS_OK) {
        status = write_archive(tables, &r->allocator, file.stream, error);
    }
    if (status == PERP_STATUS_OK) {
        status = perp_output_complete(&file, error);
    }
    perp_output_discard(&file);
    for (int i = 0; i < TABLES; i++) {
        perp_bytes_free(&tables[i].row);
    }
    return status;
}
