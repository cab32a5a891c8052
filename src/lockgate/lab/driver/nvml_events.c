/* NVML: event sets. Each has a connection of its own, since a wait occupies one. */
#define _POSIX_C_SOURCE 200809L

#include "nvml_call.h"

#include <stdint.h>
#include <stdlib.h>

/* A longer wait is made of several, so that the simulator soon notices when the waiting process is gone. */
#define SLICE_MS 5000
#define MOST_REGISTRATIONS MOST_GPUS

struct registration {
    struct object device;
    unsigned long long types;
};

struct nvmlEventSet_st {
    struct nvmlEventSet_st *next;
    unsigned users; /* calls under way, and one for the list: the last frees it */
    struct connection connection;
    unsigned count;
    struct registration registrations[MOST_REGISTRATIONS];
};

static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;
static struct nvmlEventSet_st *sets;

/* The set, if it is one of ours and not yet freed; give it back with `leave`. */
static struct nvmlEventSet_st *enter(const void *handle)
{
    pthread_mutex_lock(&sets_lock);
    struct nvmlEventSet_st *set = sets;
    while (set && set != handle)
        set = set->next;
    if (set)
        set->users++;
    pthread_mutex_unlock(&sets_lock);
    return set;
}

static void leave(struct nvmlEventSet_st *set)
{
    pthread_mutex_lock(&sets_lock);
    bool last = --set->users == 0;
    pthread_mutex_unlock(&sets_lock);
    if (last) {
        connection_close(&set->connection);
        free(set);
    }
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
    REQUIRE(set);
    struct nvmlEventSet_st *created = calloc(1, sizeof(*created));
    if (!created)
        return NVML_ERROR_MEMORY;
    created->users = 1;
    created->connection = (struct connection)CONNECTION_CLOSED;
    connection_copy(&created->connection, nvml_connection());
    pthread_mutex_lock(&sets_lock);
    created->next = sets;
    sets = created;
    pthread_mutex_unlock(&sets_lock);
    *set = created;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
    REQUIRE(set);
    pthread_mutex_lock(&sets_lock);
    struct nvmlEventSet_st **link = &sets;
    while (*link && *link != (struct nvmlEventSet_st *)set)
        link = &(*link)->next;
    struct nvmlEventSet_st *found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&sets_lock);
    if (!found)
        return NVML_ERROR_INVALID_ARGUMENT;
    leave(found);
    return NVML_SUCCESS;
}

static nvmlReturn_t ask(struct nvmlEventSet_st *set, struct request *request, int timeout_ms, struct reply *reply)
{
    if (!connection_ask(&set->connection, request, timeout_ms, reply))
        return NVML_ERROR_UNKNOWN;
    if (reply->code != NVML_SUCCESS)
        reply_free(reply);
    return (nvmlReturn_t)reply->code;
}

static nvmlReturn_t send_registration(struct nvmlEventSet_st *set, const struct registration *registration)
{
    struct request request;
    struct reply reply;
    request_begin(&request, "nvmlDeviceRegisterEvents");
    request_object(&request, &registration->device);
    request_integer(&request, registration->types);
    nvmlReturn_t result = ask(set, &request, CALL_TIMEOUT_MS, &reply);
    if (result == NVML_SUCCESS)
        reply_free(&reply);
    return result;
}

/* Keeps a registration, so that it can be made again when the simulator was restarted. */
static bool remember(struct nvmlEventSet_st *set, const struct registration *registration)
{
    for (unsigned i = 0; i < set->count; i++)
        if (set->registrations[i].device.path[0] == registration->device.path[0]) {
            set->registrations[i].types |= registration->types;
            return true;
        }
    if (set->count == MOST_REGISTRATIONS)
        return false;
    set->registrations[set->count++] = *registration;
    return true;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *eventTypes)
{
    return CALL("d>l", device, eventTypes);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long eventTypes, nvmlEventSet_t set)
{
    enum handle_kind kind;
    struct registration registration = { .types = eventTypes };
    REQUIRE(object_of(device, &kind, &registration.device));
    if (kind != HANDLE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    struct nvmlEventSet_st *entered = enter(set);
    if (!entered)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvmlReturn_t result = send_registration(entered, &registration);
    if (result == NVML_SUCCESS && !remember(entered, &registration))
        result = NVML_ERROR_UNKNOWN;
    leave(entered);
    return result;
}

/* A new connection knows of no registration: the simulator was restarted, or the last wait broke off. */
static nvmlReturn_t register_again(struct nvmlEventSet_st *set)
{
    if (connection_alive(&set->connection))
        return NVML_SUCCESS;
    nvmlReturn_t result = NVML_SUCCESS;
    for (unsigned i = 0; result == NVML_SUCCESS && i < set->count; i++)
        result = send_registration(set, &set->registrations[i]);
    return result == NVML_ERROR_GPU_IS_LOST ? NVML_SUCCESS : result;
}

static nvmlReturn_t take_event(struct reply *reply, nvmlEventData_t *data)
{
    struct object device;
    unsigned long long type, value, gpu_instance, compute_instance;
    if (!reply_object(reply, &device) || device.depth != 1 || !reply_unsigned(reply, &type) ||
        !reply_unsigned(reply, &value) || !reply_unsigned(reply, &gpu_instance) ||
        !reply_unsigned(reply, &compute_instance) || gpu_instance > UINT32_MAX || compute_instance > UINT32_MAX)
        return NVML_ERROR_UNKNOWN;
    data->device = device_handle(&device);
    data->eventType = type;
    data->eventData = value;
    data->gpuInstanceId = (unsigned)gpu_instance;
    data->computeInstanceId = (unsigned)compute_instance;
    return data->device ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

static nvmlReturn_t wait_slice(struct nvmlEventSet_st *set, unsigned milliseconds, nvmlEventData_t *data)
{
    struct request request;
    struct reply reply;
    nvmlReturn_t result = register_again(set);
    if (result != NVML_SUCCESS)
        return result;
    request_begin(&request, "nvmlEventSetWait_v2");
    request_integer(&request, milliseconds);
    result = ask(set, &request, (int)milliseconds + CALL_TIMEOUT_MS, &reply);
    if (result != NVML_SUCCESS)
        return result;
    result = take_event(&reply, data);
    reply_free(&reply);
    return result;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeoutms)
{
    REQUIRE(data);
    struct nvmlEventSet_st *entered = enter(set);
    if (!entered)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvmlReturn_t result;
    do {
        unsigned slice = timeoutms < SLICE_MS ? timeoutms : SLICE_MS;
        result = wait_slice(entered, slice, data);
        timeoutms -= slice;
    } while (result == NVML_ERROR_TIMEOUT && timeoutms > 0);
    leave(entered);
    return result;
}

nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeoutms)
{
    return nvmlEventSetWait_v2(set, data, timeoutms);
}
