/*
 * Finds the driver's libraries by name, as an application does, and asks them: the GPUs' UUIDs one a line, then what
 * cuInit says. Nothing of it belongs to one C library, so that it is compiled for each.
 */
#include <dlfcn.h>
#include <stdio.h>

static void *need(const char *library, const char *symbol)
{
    void *handle = dlopen(library, RTLD_NOW);
    void *found = handle ? dlsym(handle, symbol) : NULL;
    if (!found)
        printf("%s: %s\n", library, dlerror());
    return found;
}

#define NVML(name) need("libnvidia-ml.so.1", name)

int main(void)
{
    int (*init)(void) = NVML("nvmlInit_v2");
    int (*count_of)(unsigned *) = NVML("nvmlDeviceGetCount_v2");
    int (*handle_of)(unsigned, void **) = NVML("nvmlDeviceGetHandleByIndex_v2");
    int (*uuid_of)(void *, char *, unsigned) = NVML("nvmlDeviceGetUUID");
    int (*cuda)(unsigned) = need("libcuda.so.1", "cuInit");
    int (*by_bare_name)(unsigned) = need("libcuda.so", "cuInit");
    if (!init || !count_of || !handle_of || !uuid_of || !cuda || !by_bare_name)
        return 1;
    unsigned count = 0;
    int failed = init() || count_of(&count);
    for (unsigned index = 0; index < count; index++) {
        void *device;
        char uuid[96];
        failed = failed || handle_of(index, &device) || uuid_of(device, uuid, sizeof(uuid));
        printf("%s\n", failed ? "no UUID" : uuid);
    }
    printf("cuInit %d\n", cuda(0));
    return failed;
}
