/*
 * cuda-vectoradd: adds two vectors on each CUDA device and says so, or why not, in the words of NVIDIA's sample.
 *
 *   cuda-vectoradd [--hold SECONDS] [--bytes N]
 *
 * --hold keeps the context and the memory for a while after the sum; --bytes allocates that much more on each device.
 */
#define _POSIX_C_SOURCE 200809L

#include "cuda.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ELEMENTS 50000
#define THREADS 256
#define INSUFFICIENT_DRIVER "CUDA driver version is insufficient for CUDA runtime version"

/* The functions of libcuda that are used here. */
static struct {
    __typeof__(cuInit) *init;
    __typeof__(cuGetErrorString) *error_string;
    __typeof__(cuDeviceGetCount) *count;
    __typeof__(cuDeviceGet) *get;
    __typeof__(cuCtxCreate_v2) *create_context;
    __typeof__(cuCtxDestroy_v2) *destroy_context;
    __typeof__(cuMemAlloc_v2) *allocate;
    __typeof__(cuMemFree_v2) *release;
    __typeof__(cuMemcpyHtoD_v2) *to_device;
    __typeof__(cuMemcpyDtoH_v2) *to_host;
    __typeof__(cuModuleLoadData) *load;
    __typeof__(cuModuleGetFunction) *function;
    __typeof__(cuLaunchKernel) *launch;
    __typeof__(cuCtxSynchronize) *synchronize;
} cuda;

static const struct {
    const char *name;
    void *place;
} symbols[] = {
    { "cuInit", &cuda.init },
    { "cuGetErrorString", &cuda.error_string },
    { "cuDeviceGetCount", &cuda.count },
    { "cuDeviceGet", &cuda.get },
    { "cuCtxCreate_v2", &cuda.create_context },
    { "cuCtxDestroy_v2", &cuda.destroy_context },
    { "cuMemAlloc_v2", &cuda.allocate },
    { "cuMemFree_v2", &cuda.release },
    { "cuMemcpyHtoD_v2", &cuda.to_device },
    { "cuMemcpyDtoH_v2", &cuda.to_host },
    { "cuModuleLoadData", &cuda.load },
    { "cuModuleGetFunction", &cuda.function },
    { "cuLaunchKernel", &cuda.launch },
    { "cuCtxSynchronize", &cuda.synchronize },
};

static void fail(const char *action, const char *reason)
{
    fprintf(stderr, "Failed to %s (error code %s)!\n", action, reason);
    exit(EXIT_FAILURE);
}

static void check(CUresult result, const char *action)
{
    const char *text = NULL;
    if (result == CUDA_SUCCESS)
        return;
    if (cuda.error_string(result, &text) != CUDA_SUCCESS || !text)
        text = "unrecognized error code";
    fail(action, text);
}

static void load_cuda(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
        void *symbol = library ? dlsym(library, symbols[i].name) : NULL;
        if (!symbol)
            fail("allocate device vector A", INSUFFICIENT_DRIVER);
        memcpy(symbols[i].place, &symbol, sizeof(symbol));
    }
}

static float *filled(size_t n)
{
    float *vector = malloc(n * sizeof(float));
    if (!vector) {
        fprintf(stderr, "Failed to allocate host vectors!\n");
        exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < n; i++)
        vector[i] = (float)rand() / (float)RAND_MAX;
    return vector;
}

static void verify(const float *a, const float *b, const float *c)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (fabsf(a[i] + b[i] - c[i]) > 1e-5F) {
            fprintf(stderr, "Result verification failed at element %d!\n", i);
            exit(EXIT_FAILURE);
        }
}

/* The sum on one device; the first one is told in full, as the sample does. */
static void add_on(int ordinal, const float *a, const float *b, float *c, size_t more)
{
    size_t bytes = ELEMENTS * sizeof(float);
    int n = ELEMENTS, blocks = (ELEMENTS + THREADS - 1) / THREADS;
    CUdevice device;
    CUcontext context;
    CUdeviceptr on_device[4] = { 0 };
    CUmodule module;
    CUfunction function;

    check(cuda.get(&device, ordinal), "allocate device vector A");
    check(cuda.create_context(&context, 0, device), "allocate device vector A");
    check(cuda.allocate(&on_device[0], bytes), "allocate device vector A");
    check(cuda.allocate(&on_device[1], bytes), "allocate device vector B");
    check(cuda.allocate(&on_device[2], bytes), "allocate device vector C");
    if (more)
        check(cuda.allocate(&on_device[3], more), "allocate device memory");
    if (ordinal == 0)
        printf("Copy input data from the host memory to the CUDA device\n");
    check(cuda.to_device(on_device[0], a, bytes), "copy vector A from host to device");
    check(cuda.to_device(on_device[1], b, bytes), "copy vector B from host to device");
    if (ordinal == 0)
        printf("CUDA kernel launch with %d blocks of %d threads\n", blocks, THREADS);
    check(cuda.load(&module, "vectorAdd"), "launch vectorAdd kernel");
    check(cuda.function(&function, module, "vectorAdd"), "launch vectorAdd kernel");
    void *parameters[] = { &on_device[0], &on_device[1], &on_device[2], &n };
    check(cuda.launch(function, (unsigned)blocks, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL),
          "launch vectorAdd kernel");
    check(cuda.synchronize(), "launch vectorAdd kernel");
    if (ordinal == 0)
        printf("Copy output data from the CUDA device to the host memory\n");
    check(cuda.to_host(c, on_device[2], bytes), "copy vector C from device to host");
    verify(a, b, c);
}

static unsigned long long option(int argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return strtoull(argv[i + 1], NULL, 10);
    return 0;
}

int main(int argc, char **argv)
{
    int count;
    time_t seconds = (time_t)option(argc, argv, "--hold");
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("[Vector addition of %d elements]\n", ELEMENTS);
    load_cuda();
    check(cuda.init(0), "allocate device vector A");
    check(cuda.count(&count), "allocate device vector A");
    float *a = filled(ELEMENTS), *b = filled(ELEMENTS), *c = filled(ELEMENTS);
    for (int ordinal = 0; ordinal < count; ordinal++)
        add_on(ordinal, a, b, c, option(argc, argv, "--bytes"));
    printf("Test PASSED\n");
    if (seconds > 0)
        nanosleep(&(struct timespec){ .tv_sec = seconds }, NULL);
    free(a);
    free(b);
    free(c);
    printf("Done\n");
    return EXIT_SUCCESS; /* the driver takes everything back when the process ends */
}
