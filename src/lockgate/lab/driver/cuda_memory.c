/* libcuda.so.1: contexts and memory. The simulator accounts for it; the bytes are in this process. */
#define _DEFAULT_SOURCE

#include "cuda_call.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the lists below */

struct CUctx_st {
    struct CUctx_st *next;
    CUdevice device;
    unsigned long long number; /* of the simulator, for what the context itself holds */
};

struct memory {
    struct memory *next;
    struct CUctx_st *context;
    unsigned long long number;
    unsigned char *bytes;
    size_t size;
};

static struct CUctx_st *contexts;
static struct memory *memories;
static _Thread_local struct CUctx_st *current;

/* ---- contexts ---- */

static bool known(const struct CUctx_st *context)
{
    struct CUctx_st *each = contexts;
    while (each && each != context)
        each = each->next;
    return each != NULL;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    unsigned long long number;
    (void)flags; /* how a waiting thread waits */
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuda_ask_device("cuCtxCreate_v2", device, &number, 1);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *created = malloc(sizeof(*created));
    if (!created)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    *created = (struct CUctx_st){ .next = contexts, .device = device, .number = number };
    contexts = created;
    pthread_mutex_unlock(&lock);
    *context = current = created;
    return CUDA_SUCCESS;
}

static void release(unsigned long long number)
{
    (void)cuda_ask("cuMemFree_v2", &number, 1, NULL, 0);
}

static void free_memory(struct memory **link)
{
    struct memory *gone = *link;
    *link = gone->next;
    release(gone->number);
    munmap(gone->bytes, gone->size);
    free(gone);
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    pthread_mutex_lock(&lock);
    struct CUctx_st **link = &contexts;
    while (*link && *link != context)
        link = &(*link)->next;
    if (!*link) {
        pthread_mutex_unlock(&lock);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    *link = context->next;
    for (struct memory **memory = &memories; *memory;)
        if ((*memory)->context == context)
            free_memory(memory);
        else
            memory = &(*memory)->next;
    pthread_mutex_unlock(&lock);
    release(context->number);
    if (current == context)
        current = NULL;
    free(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    pthread_mutex_lock(&lock);
    bool good = !context || known(context);
    pthread_mutex_unlock(&lock);
    if (good)
        current = context;
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = current;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- memory ---- */

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    unsigned long long values[2];
    if (!free_bytes || !total)
        return CUDA_ERROR_INVALID_VALUE;
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult result = cuda_ask_device("cuMemGetInfo_v2", current->device, values, 2);
    if (result == CUDA_SUCCESS) {
        *free_bytes = values[0];
        *total = values[1];
    }
    return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    unsigned long long number;
    if (!pointer || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    CUresult result = cuda_ask("cuMemAlloc_v2", (unsigned long long[]){ (unsigned)current->device, bytes }, 2,
                                  &number, 1);
    if (result != CUDA_SUCCESS)
        return result;
    struct memory *memory = malloc(sizeof(*memory));
    /* Pages are only taken when they are written: a test may well hold 80 GB. */
    void *space = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!memory || space == MAP_FAILED) {
        free(memory);
        release(number);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&lock);
    *memory = (struct memory){ .next = memories, .context = current, .number = number, .bytes = space, .size = bytes };
    memories = memory;
    pthread_mutex_unlock(&lock);
    *pointer = (uintptr_t)space;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    pthread_mutex_lock(&lock);
    struct memory **link = &memories;
    while (*link && (uintptr_t)(*link)->bytes != pointer)
        link = &(*link)->next;
    bool found = *link != NULL;
    if (found)
        free_memory(link);
    pthread_mutex_unlock(&lock);
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Where a range of device memory is; NULL when not all of it was allocated. */
void *cuda_range(CUdeviceptr pointer, size_t bytes)
{
    void *range = NULL;
    pthread_mutex_lock(&lock);
    for (struct memory *memory = memories; memory && !range; memory = memory->next) {
        uintptr_t start = (uintptr_t)memory->bytes;
        if (pointer >= start && pointer - start <= memory->size && bytes <= memory->size - (pointer - start))
            range = memory->bytes + (pointer - start);
    }
    pthread_mutex_unlock(&lock);
    return range;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    void *range = cuda_range(to, bytes);
    if (!range || !from)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(range, from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    const void *range = cuda_range(from, bytes);
    if (!range || !to)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, range, bytes);
    return CUDA_SUCCESS;
}
