/* What the parts of the simulated libcuda.so.1 share. */
#ifndef LOCKGATE_CUDA_CALL_H
#define LOCKGATE_CUDA_CALL_H

#include "cuda.h"

/* A call to the simulator, numbers in and numbers out; its return code, or UNKNOWN when there is no good answer. */
CUresult cuda_ask(const char *function, const unsigned long long *in, int ins, unsigned long long *out, int outs);

/* The same about one device: NOT_INITIALIZED before cuInit, INVALID_DEVICE for what is no ordinal. */
CUresult cuda_ask_device(const char *function, CUdevice device, unsigned long long *out, int outs);

/* Where a range of device memory lies in this process; NULL when not all of it was allocated. */
void *cuda_range(CUdeviceptr pointer, size_t bytes);

#endif
