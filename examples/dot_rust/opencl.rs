//! The first OpenCL device, with a context, a queue and memory.
// SPDX-License-Identifier: Apache-2.0

use std::ffi::c_void;
use std::os::raw::c_int;
use std::ptr::{null, null_mut};

use crate::kiln::Result;

type Handle = *mut c_void;

const DEVICE_TYPE_ALL: u64 = 0xFFFF_FFFF;
const MEM_READ_WRITE: u64 = 1 << 0;
const MEM_COPY_HOST_PTR: u64 = 1 << 5;

#[link(name = "OpenCL")]
#[allow(non_snake_case)]
extern "C" {
    fn clGetPlatformIDs(count: u32, platforms: *mut Handle, found: *mut u32) -> c_int;
    fn clGetDeviceIDs(
        platform: Handle,
        kind: u64,
        count: u32,
        devices: *mut Handle,
        found: *mut u32,
    ) -> c_int;
    fn clCreateContext(
        properties: *const isize,
        count: u32,
        devices: *const Handle,
        notify: *const c_void,
        data: *mut c_void,
        code: *mut c_int,
    ) -> Handle;
    fn clCreateCommandQueue(
        context: Handle,
        device: Handle,
        properties: u64,
        code: *mut c_int,
    ) -> Handle;
    fn clCreateBuffer(
        context: Handle,
        flags: u64,
        size: usize,
        host: *const c_void,
        code: *mut c_int,
    ) -> Handle;
    fn clEnqueueReadBuffer(
        queue: Handle,
        buffer: Handle,
        blocking: u32,
        offset: usize,
        size: usize,
        to: *mut c_void,
        wait_count: u32,
        wait_for: *const Handle,
        event: *mut Handle,
    ) -> c_int;
}

pub struct OpenCl {
    context: Handle,
    pub queue: Handle,
}

fn check(code: c_int, call: &str) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    Err(format!("{call} failed: {code}"))
}

impl OpenCl {
    pub fn open() -> Result<OpenCl> {
        let (mut platform, mut device, mut code) = (null_mut(), null_mut(), 0);
        unsafe {
            if clGetPlatformIDs(1, &mut platform, null_mut()) != 0
                || clGetDeviceIDs(platform, DEVICE_TYPE_ALL, 1, &mut device, null_mut()) != 0
            {
                return Err("there is no OpenCL device".to_string());
            }
            let context = clCreateContext(null(), 1, &device, null(), null_mut(), &mut code);
            check(code, "clCreateContext")?;
            let queue = clCreateCommandQueue(context, device, 0, &mut code);
            check(code, "clCreateCommandQueue")?;
            Ok(OpenCl { context, queue })
        }
    }

    /// The numbers in memory of the device, for as long as the program runs.
    pub fn upload(&self, numbers: &[f32]) -> Result<Handle> {
        let mut code = 0;
        let flags = MEM_READ_WRITE | MEM_COPY_HOST_PTR;
        let size = std::mem::size_of_val(numbers);
        let buffer = unsafe {
            clCreateBuffer(
                self.context,
                flags,
                size,
                numbers.as_ptr().cast(),
                &mut code,
            )
        };
        check(code, "clCreateBuffer")?;
        Ok(buffer)
    }

    /// Waits for the queue and fills the numbers.
    pub fn download(&self, buffer: Handle, numbers: &mut [f32]) -> Result<()> {
        let (to, size) = (numbers.as_mut_ptr().cast(), std::mem::size_of_val(numbers));
        let code = unsafe {
            clEnqueueReadBuffer(self.queue, buffer, 1, 0, size, to, 0, null(), null_mut())
        };
        check(code, "clEnqueueReadBuffer")
    }
}
