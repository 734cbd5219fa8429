#include <stdint.h>
void never(const float* x, float* y, int32_t n) {
  (void)x, (void)y, (void)n;
  for (volatile int go = 1; go;) {
  }
}
