! Kiln's C interface for Fortran: the types and functions of kiln.h through iso_c_binding.
! SPDX-License-Identifier: Apache-2.0
module kiln
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int32_t), parameter :: kiln_ok = 0
  integer(c_int32_t), parameter :: kiln_memory = 0, kiln_integer = 1, kiln_floating = 2, &
    kiln_unsigned = 3  ! in `integer`: the bits of a uint64_t

  type, bind(c) :: kiln_options
    integer(c_size_t) :: size = 0
    type(c_ptr) :: backend = c_null_ptr
    integer(c_int32_t) :: ordinal = 0
    integer(c_int32_t) :: use_native = 0
    type(c_ptr) :: context = c_null_ptr
    type(c_ptr) :: device = c_null_ptr
    type(c_ptr) :: queue = c_null_ptr
    type(c_ptr) :: database = c_null_ptr
    type(c_ptr) :: kernel_path = c_null_ptr
    type(c_ptr) :: cache_folder = c_null_ptr
    type(c_ptr) :: lock = c_null_ptr
    type(c_ptr) :: unused = c_null_ptr
    integer(c_int32_t) :: tune_on_miss = 0
    integer(c_int32_t) :: caller_workspace = 0
    real(c_double) :: tune_seconds = 0
    real(c_double) :: tune_budget_seconds = 0
    type(c_ptr) :: tuner = c_null_ptr
    integer(c_int32_t) :: no_shipped = 0  ! not 0: the rows that are part of Kiln do not answer
    integer(c_int32_t) :: reserved = 0
  end type kiln_options

  type, bind(c) :: kiln_argument
    type(c_ptr) :: name = c_null_ptr
    integer(c_int32_t) :: kind = kiln_memory
    type(c_ptr) :: memory = c_null_ptr
    integer(c_size_t) :: bytes = 0
    integer(c_size_t) :: offset = 0
    type(c_ptr) :: dtype = c_null_ptr
    integer(c_int64_t) :: integer = 0
    real(c_double) :: floating = 0
  end type kiln_argument

  interface
    integer(c_int32_t) function kiln_open(options, launcher) bind(c)
      import
      type(kiln_options), intent(in) :: options
      type(c_ptr), intent(out) :: launcher
    end function kiln_open
    subroutine kiln_close(launcher) bind(c)
      import
      type(c_ptr), value :: launcher
    end subroutine kiln_close
    integer(c_int32_t) function kiln_prepare(launcher, kernel, problem, prepared) bind(c)
      import
      type(c_ptr), value :: launcher
      character(kind=c_char), intent(in) :: kernel(*), problem(*)
      type(c_ptr), intent(out) :: prepared
    end function kiln_prepare
    subroutine kiln_kernel_release(kernel) bind(c)
      import
      type(c_ptr), value :: kernel
    end subroutine kiln_kernel_release
    integer(c_int32_t) function kiln_launch(kernel, queue, arguments, count) bind(c)
      import
      type(c_ptr), value :: kernel, queue
      type(kiln_argument), intent(in) :: arguments(*)
      integer(c_size_t), value :: count
    end function kiln_launch
    function kiln_last_error_text() result(text) bind(c, name="kiln_last_error")
      import
      type(c_ptr) :: text
    end function kiln_last_error_text
    integer(c_size_t) function c_length(text) bind(c, name="strlen")
      import
      type(c_ptr), value :: text
    end function c_length
  end interface

contains

  ! Stops the program with Kiln's own words where a call did not succeed.
  subroutine kiln_check(status)
    integer(c_int32_t), intent(in) :: status
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: address
    if (status == kiln_ok) return
    address = kiln_last_error_text()
    call c_f_pointer(address, text, [c_length(address)])
    print *, text
    error stop 1
  end subroutine kiln_check

end module kiln
