"""Running sums, softmax and norms on pyopencl arrays, against NumPy.

SPDX-License-Identifier: Apache-2.0
"""

import pytest

import kiln

np = pytest.importorskip("numpy")


def random(*shape, dtype="float32"):
    """Numbers that are the same in every run."""
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def test_scan_along_the_last_axis_and_over_all(on_device):
    x = (random(3, 4, 501) * 10).astype("int64")
    np.testing.assert_array_equal(kiln.scan(on_device(x)).get(), np.cumsum(x, axis=-1))
    np.testing.assert_array_equal(kiln.scan(on_device(x), axis=None).get(), np.cumsum(x))
    exclusive = kiln.scan(on_device(x), exclusive=True).get()
    np.testing.assert_array_equal(exclusive[..., 1:], np.cumsum(x, axis=-1)[..., :-1])
    np.testing.assert_array_equal(exclusive[..., 0], 0)


@pytest.mark.parametrize("op, expected", [("min", np.minimum), ("max", np.maximum)])
def test_scan_keeps_a_nan(on_device, op, expected):
    x = random(1000)
    x[400] = np.nan
    np.testing.assert_array_equal(kiln.scan(on_device(x), op=op).get(), expected.accumulate(x))


def test_scan_with_the_same_bits_on_every_run(on_device):
    x = on_device(random(100003))
    runs = {kiln.scan(x, deterministic="run").get().tobytes() for _ in range(20)}
    assert len(runs) == 1


def test_softmax_and_its_logarithm(on_device):
    x = random(6, 5, 77)
    powers = np.exp(x - x.max(-1, keepdims=True))
    expected = powers / powers.sum(-1, keepdims=True)
    np.testing.assert_allclose(kiln.softmax(on_device(x)).get(), expected, rtol=1e-5)
    got = kiln.log_softmax(on_device(x)).get()
    np.testing.assert_allclose(got, np.log(expected), rtol=1e-5, atol=1e-5)
    half = kiln.softmax(on_device(x), out_dtype="f16").get()
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, expected, rtol=2e-3, atol=1e-6)


def test_norms_with_weight_bias_and_residual(on_device):
    x, weight, bias, residual = random(9, 130), random(130), random(130) + 1, random(9, 130) * 3
    centred = x - x.mean(-1, keepdims=True)
    norm = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    got = kiln.layer_norm(on_device(x), on_device(weight), on_device(bias))
    np.testing.assert_allclose(got.get(), norm * weight + bias, rtol=1e-4, atol=1e-5)
    for name, array, expected in (("weight", weight, norm * weight), ("bias", bias, norm + bias)):
        got = kiln.layer_norm(on_device(x), **{name: on_device(array)})  # one layout, two meanings
        np.testing.assert_allclose(got.get(), expected, rtol=1e-4, atol=1e-5)

    total = on_device(np.zeros_like(x))
    got = kiln.rms_norm(on_device(x), on_device(weight), residual=on_device(residual), sum=total)
    both = x + residual
    np.testing.assert_array_equal(total.get(), both)
    expected = both / np.sqrt((both**2).mean(-1, keepdims=True) + 1e-6) * weight
    np.testing.assert_allclose(got.get(), expected, rtol=1e-4, atol=1e-5)


def test_a_bound_norm_repeats(on_device):
    x, out = random(4, 64), on_device(random(4, 64))
    call = kiln.bind(kiln.rms_norm, on_device(x), out=out)
    call()
    expected = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(out.get(), expected, rtol=1e-4, atol=1e-5)


def test_mistakes_are_named(on_device):
    x = on_device(random(4, 8))
    with pytest.raises(kiln.ShapeError, match="axis=0 is not the last axis of shape \\[4, 8\\]"):
        kiln.scan(x, axis=0)
    with pytest.raises(kiln.ShapeError, match="argument 'weight' has shape \\[4, 8\\]; expected \\[8\\]"):
        kiln.rms_norm(x, x)
    with pytest.raises(kiln.ArgumentError, match="scale= and results of e4m3 go together"):
        kiln.softmax(x, scale=2.0)
    with pytest.raises(kiln.ArgumentError, match="residual= and sum="):
        kiln.layer_norm(x, residual=x)
    with pytest.raises(kiln.DtypeError, match="scan: arrays of f16 are not taken"):
        kiln.scan(on_device(random(8, dtype="float16")))
