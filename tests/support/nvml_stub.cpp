// NVML without a GPU: one made-up board whose readings the tests set.
//
// With KILN_NVML_LIBRARY set to this library, what Kiln makes of NVML's answers is tested where no
// GPU is. It proves nothing about a GPU.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

// NOLINTBEGIN(readability-identifier-naming): NVML's names
extern "C" {

// For the tests.
unsigned long long kiln_stub_reasons = 0;
unsigned long long kiln_stub_millijoules = 0;
unsigned kiln_stub_milliwatts = 500000;
bool kiln_stub_counts_energy = true;
bool kiln_stub_tells_power = true;

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  if (std::strcmp(id, "0000:18:00.0") != 0) return 6;  // NVML_ERROR_NOT_FOUND
  return *device = &kiln_stub_reasons, 0;
}

int nvmlDeviceGetClockInfo(void*, int type, unsigned* megahertz) {
  return *megahertz = type == 1 ? 1980 : 3201, 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  return *reasons = kiln_stub_reasons, 0;
}

int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) { return *celsius = 61, 0; }

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = kiln_stub_milliwatts;
  return kiln_stub_tells_power ? 0 : 3;  // NVML_ERROR_NOT_SUPPORTED
}

int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = kiln_stub_millijoules;
  return kiln_stub_counts_energy ? 0 : 3;
}
}
// NOLINTEND(readability-identifier-naming)
