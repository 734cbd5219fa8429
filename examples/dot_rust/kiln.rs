//! Kiln's C interface for Rust: a module to take along.
//!
//! Every failure is an `Err` with the text of kiln_last_error(), taken on the thread of the call. A
//! `Launcher` and its kernels must not outlive the queue that they were opened with. Device memory
//! is the program's own.
// SPDX-License-Identifier: Apache-2.0

use std::ffi::{c_void, CStr, CString};
use std::os::raw::{c_char, c_double, c_int};
use std::ptr::{null, null_mut};

/// The structures of kiln.h, member for member.
mod c {
    use super::*;

    #[repr(C)]
    pub struct Options {
        pub size: usize,
        pub backend: *const c_char,
        pub ordinal: i32,
        pub use_native: i32,
        pub context: *mut c_void,
        pub device: *mut c_void,
        pub queue: *mut c_void,
        pub database: *const c_char,
        pub kernel_path: *const c_char,
        pub cache_folder: *const c_char,
        pub lock: *const c_char,
        pub unused: *const c_char,
        pub tune_on_miss: i32,
        pub caller_workspace: i32,
        pub tune_seconds: c_double,
        pub tune_budget_seconds: c_double,
        pub tuner: *const c_char,
        pub no_shipped: i32,
        pub reserved: i32,
    }

    #[repr(C)]
    pub struct Match {
        pub size: usize,
        pub grade: i32,
        pub stale: i32,
        pub distance: c_double,
        pub config: [c_char; 512],
        pub reason: [c_char; 512],
    }

    #[repr(C)]
    pub struct Argument {
        pub name: *const c_char,
        pub kind: i32,
        pub memory: *const c_void,
        pub bytes: usize,
        pub offset: usize,
        pub dtype: *const c_char,
        pub integer: i64,
        pub floating: c_double,
    }

    pub const MEMORY: i32 = 0;

    #[link(name = "kiln")]
    extern "C" {
        pub fn kiln_last_error() -> *const c_char;
        pub fn kiln_open(options: *const Options, launcher: *mut *mut c_void) -> c_int;
        pub fn kiln_close(launcher: *mut c_void);
        pub fn kiln_select(
            launcher: *const c_void,
            kernel: *const c_char,
            problem: *const c_char,
            found: *mut Match,
        ) -> c_int;
        pub fn kiln_prepare(
            launcher: *const c_void,
            kernel: *const c_char,
            problem: *const c_char,
            prepared: *mut *mut c_void,
        ) -> c_int;
        pub fn kiln_kernel_release(kernel: *mut c_void);
        pub fn kiln_launch(
            kernel: *const c_void,
            queue: *mut c_void,
            arguments: *const Argument,
            count: usize,
        ) -> c_int;
    }
}

pub type Result<T> = std::result::Result<T, String>;

fn check(status: c_int) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    Err(unsafe { text_at(c::kiln_last_error()) })
}

unsafe fn text_at(text: *const c_char) -> String {
    CStr::from_ptr(text).to_string_lossy().into_owned()
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| format!("'{}' holds a zero byte", text.escape_debug()))
}

/// Kiln on the program's own queue.
pub struct Launcher(*mut c_void);

impl Launcher {
    pub fn open(backend: &str, queue: *mut c_void) -> Result<Launcher> {
        let name = c_text(backend)?;
        let options = c::Options {
            size: std::mem::size_of::<c::Options>(),
            backend: name.as_ptr(),
            ordinal: 0,
            use_native: 1,
            context: null_mut(),
            device: null_mut(),
            queue,
            database: null(),
            kernel_path: null(),
            cache_folder: null(),
            lock: null(),
            unused: null(),
            tune_on_miss: 0,
            caller_workspace: 0,
            tune_seconds: 0.0,
            tune_budget_seconds: 0.0,
            tuner: null(),
            no_shipped: 0,
            reserved: 0,
        };
        let mut opened = Launcher(null_mut());
        check(unsafe { c::kiln_open(&options, &mut opened.0) })?;
        Ok(opened)
    }

    /// Which config would run, and why.
    pub fn choose(&self, kernel: &str, problem: &str) -> Result<(String, String)> {
        let (kernel, problem) = (c_text(kernel)?, c_text(problem)?);
        let mut found = c::Match {
            size: std::mem::size_of::<c::Match>(),
            grade: 0,
            stale: 0,
            distance: 0.0,
            config: [0; 512],
            reason: [0; 512],
        };
        check(unsafe { c::kiln_select(self.0, kernel.as_ptr(), problem.as_ptr(), &mut found) })?;
        Ok(unsafe {
            (
                text_at(found.config.as_ptr()),
                text_at(found.reason.as_ptr()),
            )
        })
    }

    /// Compiles the kernel, or takes it from the cache.
    pub fn prepare(&self, kernel: &str, problem: &str) -> Result<Kernel> {
        let (kernel, problem) = (c_text(kernel)?, c_text(problem)?);
        let mut prepared = Kernel(null_mut());
        check(unsafe {
            c::kiln_prepare(self.0, kernel.as_ptr(), problem.as_ptr(), &mut prepared.0)
        })?;
        Ok(prepared)
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        unsafe { c::kiln_close(self.0) }
    }
}

/// A kernel that is ready to launch for one problem.
pub struct Kernel(*mut c_void);

impl Kernel {
    /// Puts the kernel on the queue and returns at once. The memory of `arguments` must be alive
    /// until the queue is done with it.
    pub fn launch(&self, queue: *mut c_void, arguments: &Arguments) -> Result<()> {
        let given = &arguments.given;
        check(unsafe { c::kiln_launch(self.0, queue, given.as_ptr(), given.len()) })
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        unsafe { c::kiln_kernel_release(self.0) }
    }
}

/// Arguments in device memory, laid out once for many launches.
#[derive(Default)]
pub struct Arguments {
    given: Vec<c::Argument>,
    texts: Vec<CString>, // what `given` points to
}

impl Arguments {
    /// Adds memory of `bytes` bytes. The launch checks its element type, unless `dtype` is empty.
    pub fn memory(
        mut self,
        name: &str,
        memory: *const c_void,
        bytes: usize,
        dtype: &str,
    ) -> Result<Arguments> {
        let name = self.keep(name)?;
        let dtype = if dtype.is_empty() {
            null()
        } else {
            self.keep(dtype)?
        };
        self.given.push(c::Argument {
            name,
            kind: c::MEMORY,
            memory,
            bytes,
            offset: 0,
            dtype,
            integer: 0,
            floating: 0.0,
        });
        Ok(self)
    }

    fn keep(&mut self, text: &str) -> Result<*const c_char> {
        self.texts.push(c_text(text)?);
        Ok(self.texts[self.texts.len() - 1].as_ptr())
    }
}
