/* perp/log.h - the run log: everything that a run was and did, in one file that survives its writer.
 *
 * The file is MCAP (https://mcap.dev/spec), so that robotics tools and the `mcap` packages open it: JSON messages on
 * the channels /state, /contacts and /info, one of each per step, and /memory, what the run needs to go on; the scene's
 * files are attachments, where the log comes from is metadata. docs/log.md describes every field. Doubles are written
 * so that they come back with the same bits.
 *
 * It is append-only: messages are collected into compressed, checksummed chunks, and each chunk goes to the file by one
 * write. Whatever ends the writer, every chunk before that is read again, and the reader says how much was lost.
 */
#ifndef PERP_LOG_H
#define PERP_LOG_H

#include <perp/scene_yaml.h>
#include <perp/step.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* A file of the scene: the scene itself, then what it includes and its meshes, named relative to the scene's folder. */
typedef struct perp_log_file {
    const char *name;
    const char *bytes;
    size_t size;
} perp_log_file;

/* What is logged, and where it comes from. Nothing but `model` is needed after perp_log_create. */
typedef struct perp_log_about {
    const perp_model *model;           /* borrowed until the log is closed */
    const perp_run_settings *settings; /* of the run; NULL: the scene's */
    int file_count;                    /* 0: a scene without a file; its log cannot be resumed or drawn */
    const perp_log_file *files;        /* the scene is the first */
    int change_count;
    const char *const *changes; /* "PATH=VALUE", as applied to the scene when it was loaded */
    bool certified;             /* steps come with their `trust`; a run that goes on is certified again */
    unsigned stop_at;           /* of the perp_certifier_options */
} perp_log_about;

typedef struct perp_log_options {
    size_t size;                     /* of this struct; see perp/base.h */
    const perp_allocator *allocator; /* NULL: malloc */
    size_t chunk_bytes;              /* a chunk is closed when its messages are that long */
    double chunk_seconds;            /* and when it has been open for so long; infinite: never, see `timing` */
    bool timing;   /* solve_us is logged. Without it, and without chunk_seconds, equal runs give equal bytes. */
    bool foxglove; /* also /scene: foxglove.SceneUpdate, so that the log opens there as a picture */
} perp_log_options;

/* malloc, 1 MB, 0.25 s (so that what is half a second old is in the file, on a busy machine too), timing, no
 * picture. */
static inline perp_log_options perp_log_options_default(void)
{
    perp_log_options r;
    memset(&r, 0, sizeof r);
    r.size = sizeof r;
    r.chunk_bytes = 1 << 20;
    r.chunk_seconds = 0.25;
    r.timing = true;
    return r;
}

/* Where the bytes go. `write` is as write(2): it takes some of the bytes and returns their number, or -1 with errno
 * set; EINTR is tried again. `sync` makes durable what was taken, 0 or -1 with errno; may be NULL. */
typedef struct perp_log_sink {
    void *context;
    ptrdiff_t (*write)(void *context, const void *bytes, size_t size);
    int (*sync)(void *context);
} perp_log_sink;

typedef struct perp_log perp_log;

/* Makes the file, or empties it, and writes what is known before the first step. `options` NULL: the default ones. IO
 * or OUT_OF_MEMORY. */
PERP_API perp_status perp_log_create(const char *path, const perp_log_about *about, const perp_log_options *options,
                                     perp_log **log, perp_error *error);
/* The same into a sink, which must outlive the log. */
PERP_API perp_status perp_log_create_sink(const perp_log_sink *sink, const perp_log_about *about,
                                          const perp_log_options *options, perp_log **log, perp_error *error);
/* A perp_observer whose context is the perp_log. False, which stops the run, after the first failed write. In steady
 * state (no step is longer than one before it) takes no memory. */
PERP_API bool perp_log_observe(void *log, int step, const perp_state *state, const perp_step_info *info);
/* What is to be said of the contacts of the step that was observed last; `count` is their number. Said again of the
 * same step it replaces what was said before, as where the run could go no farther. It is a message of its own, so that
 * a step does not wait for its explanation: that may take seconds, in which the step gets into the file. Returns as
 * perp_log_observe. */
PERP_API bool perp_log_explain(perp_log *log, const perp_contact_note *notes, int count);
/* The first failure so far; OK where there is none. */
PERP_API perp_status perp_log_status(const perp_log *log, perp_error *error);
/* Writes the last chunk, how the run ended and the index, and closes the file. `result` NULL: the run did not end (the
 * log is then as a killed run leaves it, but nothing is missing); `failure` NULL: it succeeded. Frees the log; NULL is
 * allowed. The status is that of the first failure; whatever was written before it can be read. */
PERP_API perp_status perp_log_close(perp_log *log, const perp_run_result *result, const perp_error *failure,
                                    perp_error *error);

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* A body or joint whose coordinates /state lists: bodies that are free or driven, in the scene's order, then joints. */
typedef struct perp_log_entry {
    const char *name;
    bool is_body;
    int nq, nv;           /* body: 7 and 6, planar 3 and 3; joint: as many as it has */
    int q_start, v_start; /* in the q and v of a step */
} perp_log_entry;

/* What the log says of its run; owned by the reader. */
typedef struct perp_log_head {
    const char *version, *build; /* perp_version and perp_build_flags of the writer */
    const char *scene;           /* name of the scene */
    const char *model;           /* name of the rung */
    double h;
    int steps_asked;        /* as perp_run_steps said, when the run was started or last resumed */
    const char *scene_hash; /* 16 hexadecimal digits over the files and changes */
    bool planar;
    int file_count;
    const perp_log_file *files; /* bytes are zero-terminated */
    int change_count;
    const char *const *changes;
    bool certified;   /* the run was certified */
    unsigned stop_at; /* 1 << verdict: what ends it, as it was last asked for */
    int body_count;
    const char *const *bodies; /* names, in the scene's order: a and b of a contact */
    int pose_size;             /* numbers of a pose: 7, planar 3 */
    int entry_count;
    const perp_log_entry *entries;
    int nq, nv; /* numbers of all entries */
} perp_log_head;

/* How much of the file is there. */
typedef struct perp_log_extent {
    int step_count;      /* that can be read, the initial state included */
    bool complete;       /* the writer closed the log, and nothing is damaged */
    uint64_t size;       /* bytes of the file */
    uint64_t tail;       /* bytes at its end that are no whole record: what a killed writer was about to write */
    int damaged;         /* chunks whose checksum or content is wrong; their steps are left out */
    uint64_t damaged_at; /* where the first of them begins */
} perp_log_extent;

/* One step, owned by the reader until its next read. */
typedef struct perp_log_step {
    int step; /* 0: the initial state */
    double t;
    const double *q, *v;    /* head.nq, head.nv: by entry */
    const double *poses;    /* head.pose_size each, of every body: x y z qw qx qy qz, planar x y theta */
    perp_step_info info;    /* contacts and events included */
    const char *const *why; /* by contact, NULL where nothing is said of it; NULL: of none */
} perp_log_step;

/* How the run ended; owned by the reader. */
typedef struct perp_log_end {
    bool known;  /* false: the writer was stopped before it could say */
    bool failed; /* and `failure` says why */
    int steps;
    char hash[17];
    const char *code, *message; /* of the failure; empty where there was none */
    const char *result;         /* as perp_result_json writes it; NULL where it is not known */
} perp_log_end;

typedef struct perp_log_reader perp_log_reader;

/* Opens a log, checks every chunk and lists its steps. BAD_INPUT: not a log of perp (a file that is cut before its head
 * is complete has nothing to read); IO; OUT_OF_MEMORY. A truncated or damaged log is OK: see perp_log_extent. The file
 * is read, not kept in memory; it must not change while it is open, except by growing. */
PERP_API perp_status perp_log_open(const char *path, const perp_allocator *allocator, perp_log_reader **reader,
                                   perp_error *error);
/* The same from memory, which is borrowed. */
PERP_API perp_status perp_log_open_memory(const void *bytes, size_t size, const perp_allocator *allocator,
                                          perp_log_reader **reader, perp_error *error);
PERP_API void perp_log_reader_free(perp_log_reader *reader); /* NULL allowed */

PERP_API const perp_log_head *perp_log_reader_head(const perp_log_reader *reader);
PERP_API perp_log_extent perp_log_reader_extent(const perp_log_reader *reader);
PERP_API const perp_log_end *perp_log_reader_end(const perp_log_reader *reader);

/* Step number `index` of those that can be read, 0 <= index < step_count, in ascending order. Steps of one chunk in a
 * row are read faster than steps here and there. BAD_INPUT: its content is not what a log has; IO; OUT_OF_MEMORY. */
PERP_API perp_status perp_log_read(perp_log_reader *reader, int index, perp_log_step *step, perp_error *error);
/* As perp_log_read, but only what a view needs, several times faster. EXTREMES, for steps that are not shown: `info`
 * with residuals, events and contacts, and of a contact its bodies, shapes, parts and features, mode, phi, friction,
 * fn, ft and how many directions friction has. PICTURE, for those that are: also the state, and of a contact its
 * witnesses, normal, tangents and slip. What is there equals that of perp_log_read, bit for bit; more may be there of
 * some contacts. All else is 0, NULL where it is an array; but `why` is there. ALL: perp_log_read. */
typedef enum perp_log_depth { PERP_LOG_EXTREMES, PERP_LOG_PICTURE, PERP_LOG_ALL } perp_log_depth;
PERP_API perp_status perp_log_skim(perp_log_reader *reader, int index, perp_log_depth depth, perp_log_step *step,
                                   perp_error *error);
/* The index of a step, -1 where it cannot be read. */
PERP_API int perp_log_find(const perp_log_reader *reader, int step);

/* The scene as it was run, from the log's own files and changes. As perp_scene_load_text; BAD_INPUT where the log has
 * no files. */
PERP_API perp_status perp_log_load_scene(const perp_log_reader *reader, perp_scene **scene,
                                         perp_diagnostics *diagnostics);
/* The state of a step that was read, for a model of the log's scene. BAD_INPUT where the model is another. */
PERP_API perp_status perp_log_state(const perp_log_reader *reader, const perp_log_step *step, const perp_model *model,
                                    perp_state *state, perp_error *error);

/* ---- going on ---------------------------------------------------------------------------------------------------- */

/* Where a run can go on: after the last step before which nothing is missing and whose memory is in the file. Fills
 * `state` (made for `model`) and `start`, whose arrays are the reader's until it is freed. BAD_INPUT: another model,
 * or nothing to go on from. */
PERP_API perp_status perp_log_resume(perp_log_reader *reader, const perp_model *model, perp_state *state,
                                     perp_run_start *start, perp_error *error);
/* Opens the log for writing again, behind the step that perp_log_resume has found; what stands behind it, which is
 * incomplete or the end of the run, is cut off. `about` and `options` as for perp_log_create, to which the head that is
 * already written is not changed; how many steps are asked for now is added. The reader may be freed afterwards. */
PERP_API perp_status perp_log_continue(const char *path, perp_log_reader *reader, const perp_log_about *about,
                                       const perp_log_options *options, perp_log **log, perp_error *error);

/* The version of zstd that is used; a string constant. */
PERP_API const char *perp_zstd_version(void);

/* ---- exporting and comparing ------------------------------------------------------------------------------------- */

/* state.csv and contacts.csv as `perp run --csv` writes them, from a log. */
PERP_API perp_status perp_log_export_csv(perp_log_reader *reader, const char *folder, perp_error *error);
/* A NumPy archive: t, q, v, poses, and the contacts as a table; docs/log.md lists the arrays. */
PERP_API perp_status perp_log_export_npz(perp_log_reader *reader, const char *path, perp_error *error);
/* One JSON object: the head, every step, the end; piece by piece into the sink. */
PERP_API perp_status perp_log_export_json(perp_log_reader *reader, perp_text_sink *sink, void *context,
                                          perp_error *error);

/* The units of what is compared. A joint of one coordinate turns or slides, which a log does not say. */
typedef enum perp_log_unit {
    PERP_LOG_UNIT_TIME,
    PERP_LOG_UNIT_LENGTH,
    PERP_LOG_UNIT_ANGLE,
    PERP_LOG_UNIT_QUATERNION,
    PERP_LOG_UNIT_JOINT,
    PERP_LOG_UNIT_SPEED,
    PERP_LOG_UNIT_TURNING,
    PERP_LOG_UNIT_JOINT_RATE,
    PERP_LOG_UNIT_ACCELERATION,
    PERP_LOG_UNIT_TURNING_RATE,
    PERP_LOG_UNIT_JOINT_ACCELERATION,
    PERP_LOG_UNIT_FORCE,
    PERP_LOG_UNIT_NONE, /* directions, friction, residuals over their unit */
    PERP_LOG_UNIT_COUNT
} perp_log_unit;

/* "m", "rad or m", "m/s^2"; "" of quaternions and of what has none. */
PERP_API const char *perp_log_unit_name(perp_log_unit unit);

/* The largest difference of the numbers of one unit. */
typedef struct perp_log_largest {
    double size; /* 0: there is none */
    int step;
    char of[400]; /* "q ball[0]: 1 against 2 m" */
} perp_log_largest;

/* Where two logs differ: by more than a tolerance, of 0 in any bit but the sign of a zero. Everything that a step
 * reports is compared: times, coordinates, velocities, poses, contacts with their elements, events, residuals,
 * fallbacks, `several`, the solutions of instants; and how the runs ended. What it took is not (iterations, timing),
 * nor are the words about contacts, nor is where the logs come from. */
typedef struct perp_log_difference {
    bool equal;      /* the same steps, contacts, modes and events, and no number differs by more than the tolerance */
    int first_step;  /* the first that differs; -1: none */
    char first[400]; /* what differs there: "q ball[0]: 1 against 2 m" */
    int steps_compared;                            /* that both have */
    int steps_only[2];                             /* that only one has */
    perp_log_largest largest[PERP_LOG_UNIT_COUNT]; /* within the tolerance too */
} perp_log_difference;

/* Two readers, also where both are of one file. `tolerance` >= 0 is absolute, in each number's own unit; which contacts
 * are listed, their modes, events and whatever is counted have none. BAD_INPUT: the logs are not of one scene (other
 * bodies, joints), so that there is nothing to compare. */
PERP_API perp_status perp_log_compare(perp_log_reader *a, perp_log_reader *b, double tolerance,
                                      perp_log_difference *difference, perp_error *error);

#ifdef __cplusplus
}
#endif
#endif
