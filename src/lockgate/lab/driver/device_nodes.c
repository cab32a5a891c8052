/* Which device nodes this process has, as far as a simulated node can tell. */
#define _POSIX_C_SOURCE 200809L

#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int device_node_error(const char *name)
{
    char path[4096];
    const char *directory = getenv("LOCKGATE_SIMULATOR_DEV");
    if (snprintf(path, sizeof(path), "%s/%s", directory && *directory ? directory : "/dev", name) >= (int)sizeof(path))
        return ENAMETOOLONG;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    /* A node without a driver behind it: on a simulated node that is all there can be. */
    return errno == ENXIO || errno == ENODEV ? 0 : errno;
}

void visible_minors(char *to, size_t size)
{
    size_t length = 0;
    to[0] = '\0';
    for (int minor = 0; minor < MOST_GPUS; minor++) {
        char name[32];
        snprintf(name, sizeof(name), "nvidia%d", minor);
        if (device_node_error(name) == 0 && length + 4 < size)
            length += (size_t)snprintf(to + length, size - length, "%s%d", length ? "," : "", minor);
    }
}
