// The plain loop that every config is checked against.
void matmul(float* c, const float* a, const float* b, int n) {
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += (double)a[row * n + k] * b[k * n + column];
      c[row * n + column] = (float)sum;
    }
  }
}
