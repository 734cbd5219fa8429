// A dot product a hundred times over from Go, with the vectors kept on an OpenCL device, beside
// Go's own loop.
//
//	dot_go [N]
//
// kiln.go beside it wraps Kiln's C interface, opencl.go what is needed of OpenCL. Ends with 77 where
// there is no OpenCL device.
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

const (
	times   = 100
	skipped = 77
)

func dotInGo(x, y []float32) float32 {
	var sum float32
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

func run(device *openCL, n int) error {
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = float32(i%3)-1, float32(i%5)-2
	}
	deviceX, err := device.upload(x)
	if err != nil {
		return err
	}
	deviceY, err := device.upload(y)
	if err != nil {
		return err
	}
	result := make([]float32, 1)
	deviceResult, err := device.upload(result)
	if err != nil {
		return err
	}

	launcher, err := openLauncher("opencl", device.queueHandle())
	if err != nil {
		return err
	}
	defer launcher.close()
	problem := fmt.Sprintf("op=dot n=%d", n)
	config, reason, err := launcher.choose("reduce", problem)
	if err != nil {
		return err
	}
	fmt.Printf("reduce: %s\n  %s\n", config, reason)
	dot, err := launcher.prepare("reduce", problem)
	if err != nil {
		return err
	}
	defer dot.release()
	arguments := bind(
		memory{"in", deviceX, 4 * n, "f32"},
		memory{"other", deviceY, 4 * n, "f32"},
		memory{"out", deviceResult, 4, "f32"},
	)
	defer arguments.free()
	// The first launch may still compile.
	if err := dot.launch(device.queueHandle(), arguments); err != nil {
		return err
	}
	if err := device.download(deviceResult, result); err != nil {
		return err
	}

	started := time.Now()
	for i := 0; i < times; i++ {
		if err := dot.launch(device.queueHandle(), arguments); err != nil {
			return err
		}
	}
	if err := device.download(deviceResult, result); err != nil {
		return err
	}
	onDevice := time.Since(started) / times

	var expected float32
	started = time.Now()
	for i := 0; i < times; i++ {
		expected = dotInGo(x, y)
	}
	inGo := time.Since(started) / times
	fmt.Printf("dot product, %d times: %g (expected %g)\n", times, result[0], expected)
	fmt.Printf("%v each with Kiln, %v each in Go\n", onDevice, inGo)
	if result[0] != expected {
		return fmt.Errorf("the results differ")
	}

	wrong := bind(memory{"in", deviceResult, 4, ""})
	defer wrong.free()
	err = dot.launch(device.queueHandle(), wrong)
	if err == nil {
		return fmt.Errorf("a launch without arguments was accepted")
	}
	fmt.Printf("a launch without arguments: %v\n", err)
	return nil
}

func main() {
	runtime.LockOSThread() // the text of an error belongs to the thread of the call
	n := 100000
	if len(os.Args) > 1 {
		given, err := strconv.Atoi(os.Args[1])
		if err != nil || given < 1 {
			fmt.Fprintln(os.Stderr, "usage: dot_go [N]")
			os.Exit(2)
		}
		n = given
	}
	device, err := openDevice()
	if err != nil {
		fmt.Printf("skipped: %v\n", err)
		os.Exit(skipped)
	}
	if err := run(device, n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
