#!/bin/bash -eu
# The build script that OSS-Fuzz runs in its own image: $SRC, $WORK, $OUT, $CC, $CXX, $CXXFLAGS and $LIB_FUZZING_ENGINE are its.
# SPDX-License-Identifier: Apache-2.0
cmake -G Ninja -S "$SRC/kiln" -B "$WORK/kiln" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKILN_BUILD_TESTS=ON -DKILN_BUILD_EXAMPLES=OFF \
  -DKILN_BUILD_FUZZ=ON -DKILN_FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
targets=$(sed -n 's/^    Target{"\([a-z]*\)".*/\1/p' "$SRC/kiln/tests/fuzz/targets.cpp")
# shellcheck disable=SC2046,SC2086 # words
cmake --build "$WORK/kiln" --target fuzz_seeds $(printf 'fuzz_%s ' $targets)
for target in $targets; do
  cp "$WORK/kiln/fuzz_$target" "$OUT"
  "$WORK/kiln/fuzz_seeds" "$target" --write "$WORK/seeds_$target"
  (cd "$WORK/seeds_$target" && zip -qr "$OUT/fuzz_${target}_seed_corpus.zip" .)
done
