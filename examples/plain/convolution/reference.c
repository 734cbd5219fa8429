// The plain loop that every config is checked against.
void convolve(const float* image, const float* filter, float* out, int width, int height,
              int radius) {
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int v = -radius; v <= radius; ++v) {
        for (int u = -radius; u <= radius; ++u) {
          if (x + u < 0 || x + u >= width || y + v < 0 || y + v >= height) continue;
          sum += (double)filter[(v + radius) * (2 * radius + 1) + u + radius] *
                 image[(y + v) * width + x + u];
        }
      }
      out[y * width + x] = (float)sum;
    }
  }
}
