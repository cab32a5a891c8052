/* The marshaller: shapes to requests, replies to results. And the session that all calls share. */
#define _POSIX_C_SOURCE 200809L

#include "nvml_call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned init_count;
static unsigned generation;
static struct connection connection = CONNECTION_CLOSED;

/* ---- init and shutdown ---- */

static nvmlReturn_t open_session(void)
{
    char minors[MOST_GPUS * 4];
    switch (device_node_error("nvidiactl")) {
    case 0:
        break;
    case EACCES:
        return NVML_ERROR_NO_PERMISSION;
    case EPERM: /* the device cgroup denies it: NVML has no better word for that */
        return NVML_ERROR_UNKNOWN;
    default:
        return NVML_ERROR_DRIVER_NOT_LOADED;
    }
    visible_minors(minors, sizeof(minors));
    connection_prepare(&connection, API_NVML, minors, NULL);
    int code = connection_open(&connection);
    return code < 0 ? NVML_ERROR_DRIVER_NOT_LOADED : (nvmlReturn_t)code;
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
    nvmlReturn_t result = NVML_SUCCESS;
    (void)flags;
    pthread_mutex_lock(&session_lock);
    if (init_count == 0)
        result = open_session();
    if (result == NVML_SUCCESS)
        init_count++;
    pthread_mutex_unlock(&session_lock);
    return result;
}

nvmlReturn_t nvmlInit_v2(void)
{
    return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlInit(void)
{
    return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlShutdown(void)
{
    nvmlReturn_t result = NVML_SUCCESS;
    pthread_mutex_lock(&session_lock);
    if (init_count == 0) {
        result = NVML_ERROR_UNINITIALIZED;
    } else if (--init_count == 0) {
        connection_close(&connection);
        generation++;
    }
    pthread_mutex_unlock(&session_lock);
    return result;
}

bool nvml_initialized(void)
{
    pthread_mutex_lock(&session_lock);
    bool initialized = init_count > 0;
    pthread_mutex_unlock(&session_lock);
    return initialized;
}

struct connection *nvml_connection(void)
{
    return &connection;
}

/* ---- handles ---- */

#define GENERATIONS 8
#define KINDS 4
#define MOST_GPU_INSTANCES 32
#define MOST_COMPUTE_INSTANCES 16

/* Never read or written: only its addresses are used, so that handles are valid pointers of ours. */
static char handle_space[GENERATIONS][KINDS][MOST_GPUS][MOST_GPU_INSTANCES][MOST_COMPUTE_INSTANCES];

static unsigned present_generation(void)
{
    pthread_mutex_lock(&session_lock);
    unsigned present = generation % GENERATIONS;
    pthread_mutex_unlock(&session_lock);
    return present;
}

void *handle_of(enum handle_kind kind, const struct object *object)
{
    unsigned gpu = object->path[0];
    unsigned gpu_instance = object->depth > 1 ? object->path[1] : 0;
    unsigned compute_instance = object->depth > 2 ? object->path[2] : 0;
    if (gpu >= MOST_GPUS || gpu_instance >= MOST_GPU_INSTANCES || compute_instance >= MOST_COMPUTE_INSTANCES)
        return NULL;
    return &handle_space[present_generation()][kind][gpu][gpu_instance][compute_instance];
}

static const unsigned depth_of[KINDS] = { 1, 3, 2, 3 };

bool object_of(const void *handle, enum handle_kind *kind, struct object *object)
{
    uintptr_t first = (uintptr_t)&handle_space, address = (uintptr_t)handle;
    if (address < first || address >= first + sizeof(handle_space))
        return false;
    unsigned offset = (unsigned)(address - first);
    object->path[2] = offset % MOST_COMPUTE_INSTANCES;
    offset /= MOST_COMPUTE_INSTANCES;
    object->path[1] = offset % MOST_GPU_INSTANCES;
    offset /= MOST_GPU_INSTANCES;
    object->path[0] = offset % MOST_GPUS;
    offset /= MOST_GPUS;
    *kind = (enum handle_kind)(offset % KINDS);
    object->depth = depth_of[*kind];
    return offset / KINDS == present_generation();
}

nvmlDevice_t device_handle(const struct object *object)
{
    return handle_of(object->depth == 1 ? HANDLE_GPU : HANDLE_MIG, object);
}

/* ---- calls ---- */

static bool put_handle(struct request *request, char letter, const void *handle)
{
    enum handle_kind kind;
    struct object object;
    if (!object_of(handle, &kind, &object))
        return false;
    if (letter == 'I' ? kind != HANDLE_GPU_INSTANCE
        : letter == 'C' ? kind != HANDLE_COMPUTE_INSTANCE
                        : kind != HANDLE_GPU && kind != HANDLE_MIG)
        return false;
    request_object(request, &object);
    return true;
}

static bool put_text(struct request *request, const char *text)
{
    if (text)
        request_text(request, text);
    return text != NULL;
}

/* One argument into the request; false when it cannot be one. */
static bool put_argument(struct request *request, char letter, va_list *arguments)
{
    switch (letter) {
    case 'u':
        request_integer(request, va_arg(*arguments, unsigned));
        return true;
    case 'L':
        request_integer(request, va_arg(*arguments, unsigned long long));
        return true;
    case 's':
        return put_text(request, va_arg(*arguments, const char *));
    default:
        return put_handle(request, letter, va_arg(*arguments, void *));
    }
}

/* Whether none of the places for results is NULL. */
static bool has_places(const char *outputs, va_list *arguments)
{
    bool all = true;
    for (; *outputs; outputs++) {
        all = va_arg(*arguments, void *) != NULL && all;
        if (*outputs == 't')
            (void)va_arg(*arguments, unsigned);
    }
    return all;
}

static bool take_handle(struct reply *reply, char letter, void **place)
{
    struct object object;
    if (!reply_object(reply, &object))
        return false;
    if (letter == 'd')
        *place = object.depth == 2 ? NULL : device_handle(&object);
    else if (letter == 'I')
        *place = object.depth == 2 ? handle_of(HANDLE_GPU_INSTANCE, &object) : NULL;
    else
        *place = object.depth == 3 ? handle_of(HANDLE_COMPUTE_INSTANCE, &object) : NULL;
    return *place != NULL;
}

static bool take_unsigned(struct reply *reply, unsigned *place)
{
    unsigned long long value;
    if (!reply_unsigned(reply, &value) || value > UINT32_MAX)
        return false;
    *place = (unsigned)value;
    return true;
}

static bool take_signed(struct reply *reply, int *place)
{
    long long value;
    if (!reply_signed(reply, &value) || value > INT32_MAX || value < INT32_MIN)
        return false;
    *place = (int)value;
    return true;
}

static nvmlReturn_t take_text(struct reply *reply, char *place, size_t size)
{
    bool fits;
    if (!reply_text(reply, place, size, &fits))
        return NVML_ERROR_UNKNOWN;
    return fits ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

/* One value of the reply into the caller's place. */
static nvmlReturn_t take_value(struct reply *reply, char letter, va_list *arguments)
{
    void *place = va_arg(*arguments, void *);
    bool taken;
    switch (letter) {
    case 'u':
        taken = take_unsigned(reply, place);
        break;
    case 'i':
        taken = take_signed(reply, place);
        break;
    case 'l':
        taken = reply_unsigned(reply, place);
        break;
    case 't':
        return take_text(reply, place, va_arg(*arguments, unsigned));
    default:
        taken = take_handle(reply, letter, place);
    }
    return taken ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

static nvmlReturn_t send_request(struct request *request, struct reply *reply)
{
    if (request->full)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (!connection_ask(&connection, request, CALL_TIMEOUT_MS, reply))
        return NVML_ERROR_UNKNOWN;
    if (reply->code != NVML_SUCCESS)
        reply_free(reply);
    return (nvmlReturn_t)reply->code;
}

nvmlReturn_t nvml_call(const char *function, const char *shape, ...)
{
    struct request request;
    struct reply reply;
    va_list arguments, places;
    nvmlReturn_t result = nvml_initialized() ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;

    request_begin(&request, function);
    va_start(arguments, shape);
    for (; result == NVML_SUCCESS && *shape != '>'; shape++)
        if (!put_argument(&request, *shape, &arguments))
            result = NVML_ERROR_INVALID_ARGUMENT;
    va_copy(places, arguments);
    if (result == NVML_SUCCESS && !has_places(shape + 1, &places))
        result = NVML_ERROR_INVALID_ARGUMENT;
    va_end(places);
    if (result == NVML_SUCCESS)
        result = send_request(&request, &reply);
    if (result == NVML_SUCCESS) {
        for (shape++; result == NVML_SUCCESS && *shape; shape++)
            result = take_value(&reply, *shape, &arguments);
        if (result == NVML_SUCCESS && !reply_ends(&reply))
            result = NVML_ERROR_UNKNOWN;
        reply_free(&reply);
    }
    va_end(arguments);
    return result;
}

nvmlReturn_t nvml_ask(struct reply *reply, const char *function, const char *shape, ...)
{
    struct request request;
    va_list arguments;
    nvmlReturn_t result = nvml_initialized() ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;

    request_begin(&request, function);
    va_start(arguments, shape);
    for (; result == NVML_SUCCESS && *shape; shape++)
        if (!put_argument(&request, *shape, &arguments))
            result = NVML_ERROR_INVALID_ARGUMENT;
    va_end(arguments);
    return result == NVML_SUCCESS ? send_request(&request, reply) : result;
}
