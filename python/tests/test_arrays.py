"""How arrays of other libraries are read: strides, types, DLPack.

SPDX-License-Identifier: Apache-2.0
"""

import types

import pytest

import kiln
from kiln import _arrays, _problem
from test_errors import CudaArray

np = pytest.importorskip("numpy")


def test_cuda_array_interface():
    array = _arrays.describe("x", CudaArray((3, 4), "<f8", device=2, stream=7))
    assert array.place == ("cuda", 2)
    assert (array.shape, array.dtype, array.size) == ((3, 4), "f64", 96)
    assert (array.address, array.stream, array.is_dense) == (4096, 7, True)
    assert not _arrays.describe("x", CudaArray((3, 4), strides=(4, 12))).is_dense


def test_the_device_of_dlpack_goes_before_the_id_of_an_object():
    array = CudaArray((4,), device=2)
    array.device = types.SimpleNamespace(id=5)  # as JAX counts devices: over all processes
    assert _arrays.describe("x", array).place == ("cuda", 2)


class Unplaced:
    """A CUDA array that does not say on which device it is, as those of Numba."""

    def __init__(self, address=4096):
        self.__cuda_array_interface__ = {
            "shape": (4,), "typestr": "<f4", "data": (address, False), "version": 3,
        }  # fmt: skip


class Driver:
    """Answers what libcuda would: on which device memory is, and how many there are."""

    def __init__(self, memory, devices):
        self.memory, self.devices = memory, devices

    def cuPointerGetAttribute(self, found, attribute, address):  # pylint: disable=invalid-name
        assert attribute == 9
        if address.value not in self.memory:
            return 1
        found._obj.value = self.memory[address.value]
        return 0

    def cuDeviceGetCount(self, found):  # pylint: disable=invalid-name
        found._obj.value = self.devices
        return 0


def test_the_driver_tells_the_device_where_the_array_does_not(monkeypatch):
    def place(value, driver):
        monkeypatch.setattr(_arrays, "_cuda_driver", lambda: driver)
        return _arrays.describe("x", value).place

    two = Driver({4096: 1}, 2)
    assert place(Unplaced(), two) == ("cuda", 1)
    named = Unplaced()
    named.device = types.SimpleNamespace(id=0)
    assert place(named, two) == ("cuda", 0)
    with pytest.raises(kiln.ArgumentError, match="x does not say on which device it is, .* 0x2000"):
        place(Unplaced(8192), two)
    assert place(Unplaced(8192), Driver({}, 1)) == ("cuda", 0)
    assert place(Unplaced(0), two) == ("cuda", 0)
    assert place(Unplaced(), None) == ("cuda", 0)


def test_big_endian_numbers_are_no_type_of_a_kernel():
    array = CudaArray((4,), ">f4")
    assert _arrays.describe("x", array).dtype == ">f4"
    array.dtype = np.dtype(">f4")
    assert _arrays.describe("x", array).dtype == ">f4"
    assert _arrays.dtype_name(np.dtype("<f4")) == "f32"
    assert _arrays.dtype_name(np.dtype("u1")) == "u8"
    with pytest.raises(kiln.DtypeError, match="arrays of >f4 are not taken"):
        kiln.reduce(array, stream=1)


def test_dlpack_of_host_memory_is_refused():
    class Exporter:
        """Only DLPack."""

        def __init__(self, array):
            self._array = array

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

        def __dlpack__(self, **options):
            return self._array.__dlpack__()

    with pytest.raises(kiln.HostArrayError):
        _arrays.describe("x", Exporter(np.zeros(4)))


def test_dlpack_capsule_of_a_cuda_device():
    class Exporter:
        """Host memory that claims to be on a CUDA device: only read as numbers here."""

        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return (2, 1)

        def __dlpack__(self, stream=None):
            assert stream == -1
            return self.array.__dlpack__()

    source = np.zeros((3, 5), "float16")[:, 1:3]
    array = _arrays.describe("x", Exporter(source))
    assert array.place == ("cuda", 1)
    assert (array.shape, array.strides, array.dtype) == ((3, 2), (5, 1), "f16")
    assert array.address == source.ctypes.data
    assert array.size == 12


class Tensor:
    """Says what a torch tensor on cuda:1 would."""

    device, shape, dtype = types.SimpleNamespace(type="cuda", index=1), (3, 4), "torch.complex64"

    def __init__(self, **bits):
        for name in ("is_conj", "is_neg"):
            setattr(self, name, lambda name=name: name in bits)

    def data_ptr(self):
        return 4096

    def element_size(self):
        return 8

    def stride(self):
        return (4, 1)


def test_tensors_whose_values_are_not_conjugated_or_negated_yet():
    assert _arrays.describe("x", Tensor()).place == ("cuda", 1)
    with pytest.raises(kiln.LayoutError, match=r"x is a lazy view .* pass its resolve_conj\(\)"):
        _arrays.describe("x", Tensor(is_conj=True))
    with pytest.raises(kiln.LayoutError, match=r"x is a lazy view .* pass its resolve_neg\(\)"):
        _arrays.describe("x", Tensor(is_neg=True))


def test_extents_of_one_may_have_any_stride():
    assert _arrays.is_dense((1, 4), (99, 1))
    assert _arrays.is_dense((4, 1), (1, 99))
    assert not _arrays.is_dense((4, 2), (4, 1))
    assert _arrays.is_dense((0, 4), (7, 7))


def test_problem_texts():
    assert _problem.text_of({"n": 5, "flag": True, "skip": None}) == "n=5 flag=true"
    assert _problem.text_of({"map": "x * x"}) == 'map="x * x"'
    with pytest.raises(kiln.ProblemError):
        _problem.text_of({"map": "x ' \" x"})
