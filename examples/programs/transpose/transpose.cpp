// A transpose in tiles, measured by Google Benchmark. What is tuned comes as macros.
//
//   transpose ROWS COLS [--benchmark_format=json]   measures
//   transpose ROWS COLS --check                     compares with the plain loop; 0: right
#include <cstdlib>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

template <int TileRows, int TileColumns, bool WritesRows>
void transpose(const float* in, float* out, int rows, int columns) {
  for (int r0 = 0; r0 < rows; r0 += TileRows) {
    for (int c0 = 0; c0 < columns; c0 += TileColumns) {
      const int r1 = r0 + TileRows < rows ? r0 + TileRows : rows;
      const int c1 = c0 + TileColumns < columns ? c0 + TileColumns : columns;
      if (WritesRows) {
        for (int c = c0; c < c1; ++c)
          for (int r = r0; r < r1; ++r) out[c * rows + r] = in[r * columns + c];
      } else {
        for (int r = r0; r < r1; ++r)
          for (int c = c0; c < c1; ++c) out[c * rows + r] = in[r * columns + c];
      }
    }
  }
}

struct Matrices {
  Matrices(int rows, int columns) : in(std::size_t(rows) * columns), out(in.size()) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = float(i % 8191);
  }
  std::vector<float> in;
  std::vector<float> out;
};

static int check(int rows, int columns) {
  Matrices m(rows, columns);
  transpose<TILE_ROWS, TILE_COLUMNS, WRITES_ROWS>(m.in.data(), m.out.data(), rows, columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      if (m.out[std::size_t(c) * rows + r] != m.in[std::size_t(r) * columns + c]) return 1;
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int rows = std::atoi(argv[1]);
  const int columns = std::atoi(argv[2]);
  if (argc > 3 && std::strcmp(argv[3], "--check") == 0) return check(rows, columns);
  benchmark::RegisterBenchmark("transpose", [&](benchmark::State& state) {
    Matrices m(rows, columns);
    for (auto _ : state) {
      transpose<TILE_ROWS, TILE_COLUMNS, WRITES_ROWS>(m.in.data(), m.out.data(), rows, columns);
      benchmark::ClobberMemory();
    }
  });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
