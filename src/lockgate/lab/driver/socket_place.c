/* Where the simulator's socket is, and how to reach it. */
#define _POSIX_C_SOURCE 200809L

#include "line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_to(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof(address.sun_path))
        return -1;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static char *last_usr_lib(char *path)
{
    char *last = NULL;
    for (char *found = strstr(path, "/usr/lib"); found; found = strstr(found + 1, "/usr/lib"))
        last = found;
    return last;
}

/*
 * The root whose usr/lib holds this library, from the mapping that our own code lies in: "" for the system's, false
 * when it lies elsewhere. (dladdr would do, but its symbol version binds us to glibc 2.34.)
 */
static bool own_root(char *root, size_t size)
{
    char line[4096 + 128];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof(line), maps)) {
        unsigned long start, end, here = (unsigned long)(void *)own_root;
        char *path = strchr(line, '/');
        char *libraries = path ? last_usr_lib(path) : NULL;
        if (sscanf(line, "%lx-%lx", &start, &end) != 2 || here < start || here >= end)
            continue;
        if (!libraries || (size_t)(libraries - path) >= size)
            break;
        memcpy(root, path, (size_t)(libraries - path));
        root[libraries - path] = '\0';
        found = true;
    }
    if (maps)
        fclose(maps);
    return found;
}

/* Where NVIDIA's persistence daemon has its socket, and so where containers get one. */
#define SOCKET_PLACE "/run/nvidia-persistenced/socket"

int connect_to_simulator(void)
{
    char path[4096 + sizeof(SOCKET_PLACE)];
    const char *chosen = getenv("LOCKGATE_SIMULATOR_SOCKET");
    if (chosen && *chosen)
        return connect_to(chosen);
    int fd = connect_to(SOCKET_PLACE);
    if (fd >= 0 || !own_root(path, 4096))
        return fd;
    strcat(path, SOCKET_PLACE);
    return connect_to(path);
}
