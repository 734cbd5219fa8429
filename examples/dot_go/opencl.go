// The first OpenCL device, with a context, a queue and memory.
// SPDX-License-Identifier: Apache-2.0
package main

/*
#cgo LDFLAGS: -lOpenCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

type openCL struct {
	context C.cl_context
	queue   C.cl_command_queue
}

func failed(code C.cl_int, call string) error {
	if code == C.CL_SUCCESS {
		return nil
	}
	return fmt.Errorf("%s failed: %d", call, int(code))
}

func openDevice() (*openCL, error) {
	var platform C.cl_platform_id
	var device C.cl_device_id
	if C.clGetPlatformIDs(1, &platform, nil) != C.CL_SUCCESS ||
		C.clGetDeviceIDs(platform, C.CL_DEVICE_TYPE_ALL, 1, &device, nil) != C.CL_SUCCESS {
		return nil, errors.New("there is no OpenCL device")
	}
	var code C.cl_int
	opened := &openCL{}
	opened.context = C.clCreateContext(nil, 1, &device, nil, nil, &code)
	if err := failed(code, "clCreateContext"); err != nil {
		return nil, err
	}
	opened.queue = C.clCreateCommandQueue(opened.context, device, 0, &code)
	return opened, failed(code, "clCreateCommandQueue")
}

func (o *openCL) queueHandle() unsafe.Pointer { return unsafe.Pointer(o.queue) }

// upload returns the numbers in memory of the device.
func (o *openCL) upload(numbers []float32) (unsafe.Pointer, error) {
	var code C.cl_int
	flags := C.cl_mem_flags(C.CL_MEM_READ_WRITE | C.CL_MEM_COPY_HOST_PTR)
	size := C.size_t(4 * len(numbers))
	buffer := C.clCreateBuffer(o.context, flags, size, unsafe.Pointer(&numbers[0]), &code)
	return unsafe.Pointer(buffer), failed(code, "clCreateBuffer")
}

// download waits for the queue and fills the numbers.
func (o *openCL) download(buffer unsafe.Pointer, numbers []float32) error {
	size := C.size_t(4 * len(numbers))
	code := C.clEnqueueReadBuffer(o.queue, C.cl_mem(buffer), C.CL_TRUE, 0, size,
		unsafe.Pointer(&numbers[0]), 0, nil, nil)
	return failed(code, "clEnqueueReadBuffer")
}
