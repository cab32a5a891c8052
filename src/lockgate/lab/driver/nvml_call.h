/* How every NVML function asks the simulator: one call, described by a shape. */
#ifndef LOCKGATE_NVML_CALL_H
#define LOCKGATE_NVML_CALL_H

#ifdef LOCKGATE_NVML_HEADER /* builds against NVIDIA's own header, to prove that ours says the same */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include LOCKGATE_NVML_HEADER
#else
#include "nvml.h"
#endif

#include "line.h"

/*
 * Calls `function` in the simulator. The shape names the arguments that follow: before `>` what goes in, after it
 * what comes out and is stored.
 *
 *   in   d nvmlDevice_t   I nvmlGpuInstance_t   C nvmlComputeInstance_t   u unsigned   L unsigned long long   s text
 *   out  u unsigned *   i int *   l unsigned long long *   t char * and its size (two arguments)
 *        d nvmlDevice_t *   I nvmlGpuInstance_t *   C nvmlComputeInstance_t *
 *
 * UNINITIALIZED before nvmlInit, INVALID_ARGUMENT for a NULL pointer or what is no handle, INSUFFICIENT_SIZE when a text
 * does not fit, UNKNOWN when the simulator is gone or answers nonsense, else the simulator's own return code.
 */
nvmlReturn_t nvml_call(const char *function, const char *shape, ...);

/* The same, with only inputs; the values are left in the reply, which the caller frees when SUCCESS is returned. */
nvmlReturn_t nvml_ask(struct reply *reply, const char *function, const char *shape, ...);

#define CALL(...) nvml_call(__func__, __VA_ARGS__)

/* What a function checks before it looks at a struct that the caller handed in. */
#define REQUIRE(condition)                     \
    do {                                       \
        if (!nvml_initialized())               \
            return NVML_ERROR_UNINITIALIZED;   \
        if (!(condition))                      \
            return NVML_ERROR_INVALID_ARGUMENT; \
    } while (0)

/* A versioned struct must be of the one size and version. */
#define REQUIRE_VERSION(pointer, type, number)                          \
    do {                                                                \
        REQUIRE(pointer);                                               \
        if ((pointer)->version != NVML_STRUCT_VERSION(type, number))    \
            return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;                \
    } while (0)

bool nvml_initialized(void);

/* The connection of all calls but waits; an event set copies its greeting. */
struct connection *nvml_connection(void);

/* Handles are addresses that stand for an object and are never followed; those of a former nvmlInit are void. */
enum handle_kind { HANDLE_GPU, HANDLE_MIG, HANDLE_GPU_INSTANCE, HANDLE_COMPUTE_INSTANCE };
void *handle_of(enum handle_kind kind, const struct object *object);
bool object_of(const void *handle, enum handle_kind *kind, struct object *object);
nvmlDevice_t device_handle(const struct object *object);

#endif
