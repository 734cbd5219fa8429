// Kiln's C interface for Go: a module to take along.
//
// Every failure is an error with the text of kiln_last_error(), which belongs to the thread of the
// call: lock the goroutine to its thread (runtime.LockOSThread) around calls. Device memory is the
// program's own.
// SPDX-License-Identifier: Apache-2.0
package main

/*
#cgo LDFLAGS: -lkiln
#include <stdlib.h>
#include <kiln/kiln.h>

static kiln_options initial_options(void) {
  kiln_options options = KILN_OPTIONS_INIT;
  return options;
}
static kiln_match empty_match(void) {
  kiln_match match = {sizeof(kiln_match)};
  return match;
}
*/
import "C"

import (
	"errors"
	"unsafe"
)

func check(status C.kiln_status) error {
	if status == C.KILN_OK {
		return nil
	}
	return errors.New(C.GoString(C.kiln_last_error()))
}

// launcher is Kiln on the program's own queue.
type launcher struct{ handle *C.kiln_launcher }

func openLauncher(backend string, queue unsafe.Pointer) (*launcher, error) {
	name := C.CString(backend)
	defer C.free(unsafe.Pointer(name))
	options := C.initial_options()
	options.backend = name
	options.use_native = 1
	options.queue = queue
	opened := &launcher{}
	if err := check(C.kiln_open(&options, &opened.handle)); err != nil {
		return nil, err
	}
	return opened, nil
}

func (l *launcher) close() { C.kiln_close(l.handle) }

// choose returns which config would run, and why.
func (l *launcher) choose(kernel, problem string) (config, reason string, err error) {
	name, text := C.CString(kernel), C.CString(problem)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(text))
	match := C.empty_match()
	if err := check(C.kiln_select(l.handle, name, text, &match)); err != nil {
		return "", "", err
	}
	return C.GoString(&match.config[0]), C.GoString(&match.reason[0]), nil
}

// kernel is ready to launch for one problem.
type kernel struct{ handle *C.kiln_kernel }

// prepare compiles the kernel, or takes it from the cache.
func (l *launcher) prepare(name, problem string) (*kernel, error) {
	kernelName, text := C.CString(name), C.CString(problem)
	defer C.free(unsafe.Pointer(kernelName))
	defer C.free(unsafe.Pointer(text))
	prepared := &kernel{}
	if err := check(C.kiln_prepare(l.handle, kernelName, text, &prepared.handle)); err != nil {
		return nil, err
	}
	return prepared, nil
}

func (k *kernel) release() { C.kiln_kernel_release(k.handle) }

// memory is an argument in device memory of `bytes` bytes; an empty dtype is not checked.
type memory struct {
	name   string
	handle unsafe.Pointer
	bytes  int
	dtype  string
}

// arguments are laid out in C's memory, once for many launches.
type arguments struct {
	first *C.kiln_argument
	count C.size_t
	texts []*C.char
}

func bind(given ...memory) *arguments {
	size := C.size_t(unsafe.Sizeof(C.kiln_argument{}))
	count := C.size_t(len(given))
	bound := &arguments{first: (*C.kiln_argument)(C.calloc(count, size)), count: count}
	places := unsafe.Slice(bound.first, len(given))
	for i := range given {
		place := &places[i]
		place.name = bound.text(given[i].name)
		place.kind = C.KILN_MEMORY
		place.memory = given[i].handle
		place.bytes = C.size_t(given[i].bytes)
		if given[i].dtype != "" {
			place.dtype = bound.text(given[i].dtype)
		}
	}
	return bound
}

func (a *arguments) text(goText string) *C.char {
	text := C.CString(goText)
	a.texts = append(a.texts, text)
	return text
}

func (a *arguments) free() {
	for _, text := range a.texts {
		C.free(unsafe.Pointer(text))
	}
	C.free(unsafe.Pointer(a.first))
}

// launch puts the kernel on the queue and returns at once.
func (k *kernel) launch(queue unsafe.Pointer, given *arguments) error {
	return check(C.kiln_launch(k.handle, queue, given.first, given.count))
}
