/* Kiln's C interface: version 1. For C and for every language that can call C.
 *
 *   kiln_options options = KILN_OPTIONS_INIT;
 *   options.backend = "opencl";
 *   kiln_launcher* launcher;
 *   if (kiln_open(&options, &launcher) != KILN_OK) puts(kiln_last_error());
 *
 * Functions that can fail return a kiln_status; kiln_last_error() has the text. Nothing throws,
 * prints or exits. Handles may be used from many threads; closing one while another thread uses it
 * is an error of the caller. Structures start with their size, so that later versions can add
 * fields behind those of today. docs/launcher.md is the guide.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_H
#define KILN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define KILN_C_API __attribute__((visibility("default")))
#else
#define KILN_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_ABI_VERSION 1

/* The version of the interface that the library was built with. */
KILN_C_API int kiln_abi_version(void);

/* The same numbers as kiln::LaunchErrorCode. */
typedef int32_t kiln_status;
enum {
  KILN_OK = 0,
  KILN_UNKNOWN_KERNEL = 1, /* no kernel of that name, or its spec is wrong */
  KILN_BAD_PROBLEM = 2,    /* the problem text does not fit the spec */
  KILN_NO_DEVICE = 3,      /* backend or device are not there */
  KILN_IMPOSSIBLE = 4,     /* no config is legal for this problem on this device */
  KILN_BAD_ARGUMENT = 5,   /* missing, unknown, wrong type, too small */
  KILN_COMPILE_FAILED = 6,
  KILN_DEVICE_FAILED = 7,
  KILN_OUT_OF_MEMORY = 8,
  KILN_BAD_OPTION = 9, /* a null handle, a structure of unknown size */
  KILN_INTERNAL = 10
};

/* What went wrong in this thread's last call that failed; "" before the first. Valid until the next
 * such call. */
KILN_C_API const char* kiln_last_error(void);

typedef struct kiln_launcher kiln_launcher; /* freed by kiln_close */
typedef struct kiln_kernel kiln_kernel; /* freed by kiln_kernel_release; may outlive its launcher */

typedef struct kiln_options {
  size_t size;              /* sizeof(kiln_options) */
  const char* backend;      /* "cuda", "hip", "opencl"; NULL: the first that has a device */
  int32_t ordinal;          /* index of the device within the backend */
  int32_t use_native;       /* not 0: run on the objects below; backend must be named */
  void* context;            /* CUcontext (NULL: the current one) or cl_context */
  void* device;             /* cl_device_id */
  void* queue;              /* CUstream, hipStream_t, cl_command_queue */
  const char* database;     /* NULL: the default places */
  const char* kernel_path;  /* folder of the application's own kernels; NULL: none */
  const char* cache_folder; /* NULL: the default place */
  /* Added after Kiln 0.1. A structure of that version's size is accepted. */
  const char* lock;           /* file of `kiln db lock` to choose from; NULL: $KILN_LOCK */
  const char* unused;         /* NULL */
  int32_t tune_on_miss;       /* KILN_TUNE_NEVER, ... */
  int32_t caller_workspace;   /* not 0: kiln_launch is given the workspaces of kiln_workspace() */
  double tune_seconds;        /* wall time of the session of one problem; 0: 30 */
  double tune_budget_seconds; /* wall time of all sessions of the launcher; 0: 600 */
  const char* tuner; /* the `kiln` program; NULL: bin/kiln of the library's prefix, else the
                        one in $PATH */
  /* Added later. A structure that ends here is accepted. */
  int32_t no_shipped; /* not 0: the shipped rows do not answer */
  int32_t timing;     /* KILN_TIMING_AUTOMATIC, ... */
  /* Added later. A structure that ends here is accepted. */
  const char* statistics; /* "1": count calls, and print a line at exit; "0": count nothing; else a
                             file for `kiln coverage` and `kiln sweep --requested`; NULL:
                             $KILN_STATISTICS */
  /* Added later. A structure that ends here is accepted. */
  int32_t untuned;  /* KILN_UNTUNED_WAIT, ... */
  int32_t reserved; /* 0 */
} kiln_options;
#define KILN_OPTIONS_INIT                                                                         \
  {                                                                                               \
    sizeof(kiln_options), NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, \
        NULL, 0, 0, NULL, 0, 0                                                                    \
  }

/* Which rows come first: docs/launcher.md, "CUDA graphs". */
enum {
  KILN_TIMING_AUTOMATIC = 0, /* by each launch: is its stream being captured into a graph? */
  KILN_TIMING_EAGER = 1,
  KILN_TIMING_GRAPH = 2
};

/* What a kernel does for a problem without an exact match: docs/launcher.md, "A size that nobody
 * tuned". */
enum {
  KILN_UNTUNED_WAIT = 0,  /* kiln_prepare compiles the chosen config if it has to */
  KILN_UNTUNED_READY = 1, /* launches run what is compiled until the chosen config is, too */
  KILN_UNTUNED_RACE = 2   /* then configs take turns on the launches; the fastest stays */
};

/* Whether the `kiln` program tunes problems whose match is not exact, in separate processes.
 * docs/launcher.md, "Tuning what is not known". */
enum {
  KILN_TUNE_NEVER = 0,
  KILN_TUNE_BACKGROUND = 1, /* calls go on with the best config that is known meanwhile */
  KILN_TUNE_FIRST_USE = 2   /* the first call with a problem waits for its tuning */
};

KILN_C_API kiln_status kiln_open(const kiln_options* options, kiln_launcher** launcher);
KILN_C_API void kiln_close(kiln_launcher* launcher); /* NULL is allowed */

/* Number of warnings of kiln_open (a database that is missing or damaged, a cache that cannot be
 * used) and their texts, which live as long as the launcher. */
KILN_C_API size_t kiln_warning_count(const kiln_launcher* launcher);
KILN_C_API const char* kiln_warning(const kiln_launcher* launcher, size_t index);

enum {
  KILN_EXACT = 0,
  KILN_NEAR_SIZE = 1,
  KILN_SAME_ARCH = 2,
  KILN_SAME_VENDOR = 3,
  KILN_DEFAULT = 4
};

typedef struct kiln_match {
  size_t size;      /* sizeof(kiln_match), set by the caller */
  int32_t grade;    /* KILN_EXACT ... KILN_DEFAULT */
  int32_t stale;    /* not 0: tuned under another driver, compiler or template */
  double distance;  /* log2 units between the problem and the tuned one */
  char config[512]; /* cut when longer; always ends in 0 */
  char reason[512];
} kiln_match;

/* Which config would run, without preparing it. */
KILN_C_API kiln_status kiln_select(const kiln_launcher* launcher, const char* kernel,
                                   const char* problem, kiln_match* match);

/* Selects, compiles (or reads from the cache) and loads. */
KILN_C_API kiln_status kiln_prepare(const kiln_launcher* launcher, const char* kernel,
                                    const char* problem, kiln_kernel** prepared);
KILN_C_API void kiln_kernel_release(kiln_kernel* kernel); /* NULL is allowed */

/* Device memory that a prepared kernel needs between its steps, where the caller provides it. */
typedef struct kiln_workspace_info {
  size_t size;      /* sizeof(kiln_workspace_info), set by the caller */
  size_t bytes;     /* least size */
  int32_t zeroed;   /* not 0: must be all zero before the first launch; launches leave it so */
  int32_t reserved; /* 0 */
  char name[64];    /* of the argument that it is passed as; always ends in 0 */
} kiln_workspace_info;

KILN_C_API size_t kiln_workspace_count(const kiln_kernel* kernel);
KILN_C_API kiln_status kiln_workspace(const kiln_kernel* kernel, size_t index,
                                      kiln_workspace_info* workspace);

/* Releases everything that kernels keep for `queue`. Call it before you destroy the queue, under
 * the conditions of Launcher::forget_queue() (launcher.hpp). NULL, the launcher's own queue, is
 * refused. */
KILN_C_API kiln_status kiln_forget_queue(const kiln_launcher* launcher, void* queue);

/* What the launcher did so far, by grade: KILN_EXACT ... KILN_DEFAULT. */
typedef struct kiln_call_counts {
  size_t size;            /* sizeof(kiln_call_counts), set by the caller */
  uint64_t selections[5]; /* calls of kiln_select and kiln_prepare */
  uint64_t launches[5];   /* a launch into a stream that is being captured counts once */
  int32_t counting;       /* 0: nothing is counted; see kiln_options.statistics */
  int32_t reserved;       /* 0 */
} kiln_call_counts;

KILN_C_API kiln_status kiln_statistics(const kiln_launcher* launcher, kiln_call_counts* counts);

/* What tune_on_miss did so far. */
typedef struct kiln_tuning_state {
  size_t size;     /* sizeof(kiln_tuning_state), set by the caller */
  size_t waiting;  /* problems that wait, the one being tuned among them */
  size_t tuned;    /* problems that have a best of their own now */
  size_t failed;   /* problems that were given up */
  double seconds;  /* of tune_budget_seconds */
  size_t warnings; /* how many there are; the texts are those of kiln_tuning_warning() */
} kiln_tuning_state;

KILN_C_API kiln_status kiln_tuning(const kiln_launcher* launcher, kiln_tuning_state* state);
/* Copies a warning into `text`, cut where it is longer; always ends in 0. */
KILN_C_API kiln_status kiln_tuning_warning(const kiln_launcher* launcher, size_t index, char* text,
                                           size_t text_size);
/* Waits until no problem is left to tune, at most `seconds`. kiln_tuning() counts the rest. */
KILN_C_API kiln_status kiln_wait_for_tuning(const kiln_launcher* launcher, double seconds);

enum {
  KILN_MEMORY = 0,
  KILN_INTEGER = 1,
  KILN_FLOATING = 2,
  KILN_UNSIGNED = 3 /* a uint64_t, cast to int64_t in the field `integer` */
};

typedef struct kiln_argument {
  const char* name;
  int32_t kind;       /* KILN_MEMORY, KILN_INTEGER, KILN_FLOATING or KILN_UNSIGNED */
  const void* memory; /* device pointer or cl_mem */
  size_t bytes;       /* size of the memory from offset on */
  size_t offset;
  const char* dtype; /* name of the element type ("f32", "e4m3"), checked against the spec; NULL:
                        not checked */
  int64_t integer;
  double floating;
} kiln_argument;

/* Puts the kernel on `queue` (NULL: the launcher's own) and returns at once. Arguments in any
 * order. */
KILN_C_API kiln_status kiln_launch(const kiln_kernel* kernel, void* queue,
                                   const kiln_argument* arguments, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* KILN_H */
