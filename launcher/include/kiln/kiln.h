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
} kiln_options;
#define KILN_OPTIONS_INIT \
  { sizeof(kiln_options), NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL }

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

enum { KILN_MEMORY = 0, KILN_INTEGER = 1, KILN_FLOATING = 2 };

typedef struct kiln_argument {
  const char* name;
  int32_t kind;       /* KILN_MEMORY, KILN_INTEGER or KILN_FLOATING */
  const void* memory; /* device pointer or cl_mem */
  size_t bytes;       /* size of the memory from offset on */
  size_t offset;
  const char* dtype; /* "f32": checked against the spec; NULL: not checked */
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
