! A dot product a hundred times over from Fortran, with the vectors kept on an OpenCL device.
!
! kiln.f90 beside it declares Kiln's C interface. Ends with 77 where there is no OpenCL device.
! SPDX-License-Identifier: Apache-2.0
module opencl
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int64_t), parameter :: device_type_all = int(z'FFFFFFFF', c_int64_t)
  integer(c_int64_t), parameter :: mem_read_write = 1, mem_copy_host_ptr = 32

  interface
    integer(c_int32_t) function clGetPlatformIDs(entries, platform, found) bind(c, name="clGetPlatformIDs")
      import
      integer(c_int32_t), value :: entries
      type(c_ptr), intent(out) :: platform
      type(c_ptr), value :: found
    end function clGetPlatformIDs
    integer(c_int32_t) function clGetDeviceIDs(platform, types, entries, device, found) bind(c, name="clGetDeviceIDs")
      import
      type(c_ptr), value :: platform
      integer(c_int64_t), value :: types
      integer(c_int32_t), value :: entries
      type(c_ptr), intent(out) :: device
      type(c_ptr), value :: found
    end function clGetDeviceIDs
    type(c_ptr) function clCreateContext(properties, count, devices, notify, user, code) bind(c, name="clCreateContext")
      import
      type(c_ptr), value :: properties, notify, user
      integer(c_int32_t), value :: count
      type(c_ptr), intent(in) :: devices(*)
      integer(c_int32_t), intent(out) :: code
    end function clCreateContext
    type(c_ptr) function clCreateCommandQueue(context, device, properties, code) bind(c, name="clCreateCommandQueue")
      import
      type(c_ptr), value :: context, device
      integer(c_int64_t), value :: properties
      integer(c_int32_t), intent(out) :: code
    end function clCreateCommandQueue
    type(c_ptr) function clCreateBuffer(context, flags, bytes, host, code) bind(c, name="clCreateBuffer")
      import
      type(c_ptr), value :: context, host
      integer(c_int64_t), value :: flags
      integer(c_size_t), value :: bytes
      integer(c_int32_t), intent(out) :: code
    end function clCreateBuffer
    integer(c_int32_t) function clEnqueueReadBuffer(queue, memory, blocking, offset, bytes, to, waits, wait_list, event) &
        bind(c, name="clEnqueueReadBuffer")
      import
      type(c_ptr), value :: queue, memory, to, wait_list, event
      integer(c_int32_t), value :: blocking, waits
      integer(c_size_t), value :: offset, bytes
    end function clEnqueueReadBuffer
  end interface

contains

  subroutine check(code, call)
    integer(c_int32_t), intent(in) :: code
    character(*), intent(in) :: call
    if (code == 0) return
    print *, call, " failed: ", code
    error stop 1
  end subroutine check

  ! The numbers in memory of the device; kept until the program ends.
  function upload(context, values) result(memory)
    type(c_ptr), intent(in) :: context
    real(c_float), target, intent(in) :: values(:)
    type(c_ptr) :: memory
    integer(c_int32_t) :: code
    memory = clCreateBuffer(context, ior(mem_read_write, mem_copy_host_ptr), &
                            size(values, kind=c_size_t) * c_sizeof(values(1)), c_loc(values), code)
    call check(code, "clCreateBuffer")
  end function upload

end module opencl

program dot
  use kiln
  use opencl
  implicit none

  integer, parameter :: n = 100000, times = 100
  type(c_ptr) :: platform, devices(1), context, queue, launcher, kernel
  type(kiln_options) :: options
  type(kiln_argument) :: arguments(3)
  real(c_float), target :: x(n), y(n), answer(1)
  character(kind=c_char), target :: backend(7) = ["o", "p", "e", "n", "c", "l", c_null_char]
  character(kind=c_char), target :: in_name(3) = ["i", "n", c_null_char]
  character(kind=c_char), target :: other_name(6) = ["o", "t", "h", "e", "r", c_null_char]
  character(kind=c_char), target :: out_name(4) = ["o", "u", "t", c_null_char]
  integer(c_int32_t) :: code
  integer :: i

  code = clGetPlatformIDs(1, platform, c_null_ptr)
  if (code == 0) code = clGetDeviceIDs(platform, device_type_all, 1, devices(1), c_null_ptr)
  if (code /= 0) then
    print "(a)", "skipped: there is no OpenCL device"
    stop 77
  end if
  context = clCreateContext(c_null_ptr, 1, devices, c_null_ptr, c_null_ptr, code)
  call check(code, "clCreateContext")
  queue = clCreateCommandQueue(context, devices(1), 0_c_int64_t, code)
  call check(code, "clCreateCommandQueue")

  x = [(real(mod(i, 3) - 1, c_float), i = 0, n - 1)]
  y = [(real(mod(i, 5) - 2, c_float), i = 0, n - 1)]
  answer = 0

  options%size = c_sizeof(options)
  options%backend = c_loc(backend)
  options%use_native = 1
  options%queue = queue
  call kiln_check(kiln_open(options, launcher))
  call kiln_check(kiln_prepare(launcher, "reduce" // c_null_char, "op=dot n=100000" // c_null_char, kernel))

  arguments(1) = kiln_argument(name=c_loc(in_name), memory=upload(context, x), bytes=4 * n)
  arguments(2) = kiln_argument(name=c_loc(other_name), memory=upload(context, y), bytes=4 * n)
  arguments(3) = kiln_argument(name=c_loc(out_name), memory=upload(context, answer), bytes=4)
  do i = 1, times
    call kiln_check(kiln_launch(kernel, queue, arguments, 3_c_size_t))
  end do
  call check(clEnqueueReadBuffer(queue, arguments(3)%memory, 1, 0_c_size_t, 4_c_size_t, c_loc(answer), &
                                 0, c_null_ptr, c_null_ptr), "clEnqueueReadBuffer")

  print "(a, i0, a, g0, a, g0, a)", "dot product, ", times, " times: ", answer(1), &
    " (expected ", dot_product(x, y), ")"
  call kiln_kernel_release(kernel)
  call kiln_close(launcher)
  if (abs(answer(1) - dot_product(x, y)) > 0) error stop 1
end program dot
