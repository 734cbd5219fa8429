/* A dot product a hundred times over through Kiln's C interface, with the vectors kept on an OpenCL
 * device.
 *
 *   dot_c [N]
 *
 * The program owns context, queue and memory; Kiln chooses, compiles and launches the kernel. The
 * result is checked against a plain loop. Ends with 77 where there is no OpenCL device.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include <CL/cl.h>

#include <kiln/kiln.h>

enum { kTimes = 100, kSkipped = 77 };

static void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) {
    fprintf(stderr, "%s failed: %d\n", call, code);
    exit(1);
  }
}

static void check_kiln(kiln_status status) {
  if (status != KILN_OK) {
    fprintf(stderr, "%s\n", kiln_last_error());
    exit(1);
  }
}

static kiln_argument memory_argument(const char* name, cl_mem memory, size_t bytes) {
  kiln_argument argument = {0};
  argument.name = name;
  argument.kind = KILN_MEMORY;
  argument.memory = memory;
  argument.bytes = bytes;
  argument.dtype = "f32";
  return argument;
}

int main(int argc, char** argv) {
  const size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
  const size_t bytes = n * sizeof(float);
  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  cl_int code = CL_SUCCESS;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    puts("skipped: there is no OpenCL device");
    return kSkipped;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");

  float* x = malloc(bytes);
  float* y = malloc(bytes);
  if (x == NULL || y == NULL) return 1;
  float expected = 0;
  for (size_t i = 0; i < n; ++i) {
    x[i] = (float)(i % 3) - 1;
    y[i] = (float)(i % 5) - 2;
    expected += x[i] * y[i];
  }
  const cl_mem_flags copied = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  cl_mem device_x = clCreateBuffer(context, copied, bytes, x, &code);
  check(code, "clCreateBuffer");
  cl_mem device_y = clCreateBuffer(context, copied, bytes, y, &code);
  check(code, "clCreateBuffer");
  cl_mem result = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(float), NULL, &code);
  check(code, "clCreateBuffer");
  free(x);
  free(y);

  kiln_options options = KILN_OPTIONS_INIT;
  options.backend = "opencl";
  options.use_native = 1;
  options.queue = queue;
  kiln_launcher* launcher = NULL;
  kiln_kernel* dot = NULL;
  char problem[64];
  snprintf(problem, sizeof problem, "op=dot n=%zu", n);
  check_kiln(kiln_open(&options, &launcher));
  check_kiln(kiln_prepare(launcher, "reduce", problem, &dot));

  const kiln_argument arguments[] = {memory_argument("in", device_x, bytes),
                                     memory_argument("other", device_y, bytes),
                                     memory_argument("out", result, sizeof(float))};
  for (int i = 0; i < kTimes; ++i) check_kiln(kiln_launch(dot, queue, arguments, 3));

  float computed = 0;
  check(clEnqueueReadBuffer(queue, result, CL_TRUE, 0, sizeof computed, &computed, 0, NULL, NULL),
        "clEnqueueReadBuffer");
  printf("dot product, %d times: %g (expected %g)\n", kTimes, computed, expected);

  kiln_kernel_release(dot);
  kiln_close(launcher);
  clReleaseMemObject(device_x);
  clReleaseMemObject(device_y);
  clReleaseMemObject(result);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return computed == expected ? 0 : 1;
}
