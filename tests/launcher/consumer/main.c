/* The C interface from C.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <kiln/kiln.h>

int main(void) {
  kiln_options options = KILN_OPTIONS_INIT;
  kiln_launcher* launcher = NULL;
  kiln_match match;
  if (kiln_open(&options, &launcher) != KILN_OK) {
    fprintf(stderr, "%s\n", kiln_last_error());
    return 1;
  }
  match.size = sizeof match;
  if (kiln_select(launcher, "reduce", "n=1000 op=dot", &match) != KILN_OK) {
    fprintf(stderr, "%s\n", kiln_last_error());
    kiln_close(launcher);
    return 1;
  }
  printf("reduce: %s\n", match.config);
  kiln_close(launcher);
  return 0;
}
