/* Requests and replies as text, and the socket they travel on. */
#define _POSIX_C_SOURCE 200809L

#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PROTOCOL 1

/* ---- requests ---- */

static void append(struct request *request, const char *text, size_t length)
{
    if (request->full || length >= sizeof(request->text) - request->length) {
        request->full = true;
        return;
    }
    memcpy(request->text + request->length, text, length);
    request->length += length;
    request->text[request->length] = '\0';
}

void request_begin(struct request *request, const char *function)
{
    request->length = 0;
    request->full = false;
    append(request, function, strlen(function));
}

void request_integer(struct request *request, unsigned long long value)
{
    char digits[32];
    append(request, digits, (size_t)snprintf(digits, sizeof(digits), " %llu", value));
}

static bool plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c != 0 && strchr("._-:/,", c));
}

void request_text(struct request *request, const char *text)
{
    append(request, " '", 2);
    for (; *text; text++) {
        char escaped[4];
        if (plain((unsigned char)*text))
            append(request, text, 1);
        else
            append(request, escaped, (size_t)snprintf(escaped, sizeof(escaped), "%%%02X", (unsigned char)*text));
    }
}

void request_object(struct request *request, const struct object *object)
{
    char number[16];
    for (unsigned i = 0; i < object->depth; i++)
        append(request, number,
               (size_t)snprintf(number, sizeof(number), "%s%u", i ? "/" : " @", object->path[i]));
}

/* ---- replies ---- */

/* The next word, cut off with a NUL; NULL at the end. */
static char *next_word(struct reply *reply)
{
    char *word = reply->cursor + strspn(reply->cursor, " ");
    if (!*word)
        return NULL;
    reply->cursor = word + strcspn(word, " ");
    if (*reply->cursor)
        *reply->cursor++ = '\0';
    return word;
}

static bool all_digits(const char *word)
{
    size_t length = strlen(word);
    return length > 0 && length <= 20 && strspn(word, "0123456789") == length;
}

bool reply_unsigned(struct reply *reply, unsigned long long *value)
{
    const char *word = next_word(reply);
    if (!word || !all_digits(word))
        return false;
    errno = 0;
    *value = strtoull(word, NULL, 10);
    return errno == 0;
}

bool reply_signed(struct reply *reply, long long *value)
{
    const char *word = next_word(reply);
    if (!word || !all_digits(word + (*word == '-')))
        return false;
    errno = 0;
    *value = strtoll(word, NULL, 10);
    return errno == 0;
}

bool reply_object(struct reply *reply, struct object *object)
{
    char *word = next_word(reply);
    if (!word || *word != '@')
        return false;
    for (object->depth = 0; object->depth < 3; object->depth++) {
        char *end;
        unsigned long number = strtoul(++word, &end, 10);
        if (end == word || end - word > 4 || *word < '0' || *word > '9')
            return false;
        object->path[object->depth] = (unsigned)number;
        word = end;
        if (*word != '/')
            break;
    }
    object->depth++;
    return object->depth <= 3 && *word == '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %XX in place; false when it is malformed or hides a NUL. */
static bool unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        char c = *text;
        if (c == '%') {
            int high = hex_digit(text[1]), low = high < 0 ? -1 : hex_digit(text[2]);
            if (low < 0 || (high == 0 && low == 0))
                return false;
            c = (char)(high * 16 + low);
            text += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    return true;
}

bool reply_text(struct reply *reply, char *to, size_t size, bool *fits)
{
    char *word = next_word(reply);
    if (!word || *word != '\'' || !unescape(++word))
        return false;
    *fits = strlen(word) < size;
    if (*fits)
        memcpy(to, word, strlen(word) + 1);
    return true;
}

bool reply_ends(const struct reply *reply)
{
    return reply->cursor[strspn(reply->cursor, " ")] == '\0';
}

void reply_free(struct reply *reply)
{
    free(reply->text);
    reply->text = NULL;
}

/* ---- the socket ---- */

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the socket is ready or the moment has passed. */
static bool wait_for(int fd, short events, long long deadline)
{
    for (;;) {
        struct pollfd poller = { .fd = fd, .events = events };
        long long left = deadline - now_ms();
        int ready = poll(&poller, 1, left > 0 ? (int)left : 0);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

static bool send_all(int fd, const char *text, size_t length, long long deadline)
{
    while (length > 0) {
        ssize_t sent = send(fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            if (!wait_for(fd, POLLOUT, deadline))
                return false;
            continue;
        }
        if (sent < 0)
            return false;
        text += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* One whole line, nothing after it, without its newline; NULL otherwise. */
static char *receive_line(int fd, long long deadline)
{
    size_t length = 0, size = 1024;
    char *line = malloc(size);
    while (line && wait_for(fd, POLLIN, deadline)) {
        ssize_t got = recv(fd, line + length, size - length - 1, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
        char *newline = memchr(line, '\n', length);
        if (newline) {
            *newline = '\0';
            if (newline != line + length - 1 || strlen(line) != length - 1)
                break;
            return line;
        }
        if (length == size - 1) {
            char *larger = size < LINE_LIMIT ? realloc(line, size *= 4) : NULL;
            if (!larger)
                break;
            line = larger;
        }
    }
    free(line);
    return NULL;
}

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

static int connect_anywhere(void)
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

void connection_prepare(struct connection *connection, enum api api, const char *minors, const char *visible)
{
    struct request hello;
    request_begin(&hello, "hello");
    request_integer(&hello, PROTOCOL);
    request_integer(&hello, api);
    request_text(&hello, DRIVER_VERSION);
    request_text(&hello, minors);
    if (visible)
        request_text(&hello, visible);
    pthread_mutex_lock(&connection->lock);
    size_t length = hello.full ? 0 : hello.length;
    if (length >= sizeof(connection->hello))
        length = 0;
    memcpy(connection->hello, hello.text, length);
    connection->hello[length] = '\0';
    pthread_mutex_unlock(&connection->lock);
}

void connection_copy(struct connection *to, struct connection *from)
{
    pthread_mutex_lock(&from->lock);
    memcpy(to->hello, from->hello, sizeof(to->hello));
    pthread_mutex_unlock(&from->lock);
}

static void close_locked(struct connection *connection)
{
    if (connection->fd >= 0 && connection->owner == getpid())
        close(connection->fd);
    connection->fd = -1;
}

static bool exchange(struct connection *connection, const char *text, size_t length, int timeout_ms,
                     struct reply *reply)
{
    long long deadline = now_ms() + timeout_ms;
    unsigned long long code;
    reply->text = NULL;
    if (!send_all(connection->fd, text, length, deadline) || !send_all(connection->fd, "\n", 1, deadline))
        return false;
    reply->text = reply->cursor = receive_line(connection->fd, deadline);
    if (!reply->text)
        return false;
    if (!reply_unsigned(reply, &code) || code > 999) {
        reply_free(reply);
        return false;
    }
    reply->code = (int)code;
    return true;
}

/* A connection that the simulator closed, or that holds what nobody asked for, is of no more use. */
static bool still_good(struct connection *connection)
{
    char peeked;
    if (connection->fd < 0 || connection->owner != getpid())
        return false;
    return recv(connection->fd, &peeked, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

static int open_locked(struct connection *connection)
{
    struct reply reply;
    if (still_good(connection))
        return 0;
    close_locked(connection);
    connection->fd = connect_anywhere();
    connection->owner = getpid();
    if (connection->fd < 0)
        return -1;
    if (!exchange(connection, connection->hello, strlen(connection->hello), CALL_TIMEOUT_MS, &reply)) {
        close_locked(connection);
        return -1;
    }
    int code = reply_ends(&reply) || reply.code ? reply.code : -1;
    reply_free(&reply);
    if (code)
        close_locked(connection);
    return code;
}

int connection_open(struct connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    int code = open_locked(connection);
    pthread_mutex_unlock(&connection->lock);
    return code;
}

bool connection_alive(struct connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    bool alive = still_good(connection);
    pthread_mutex_unlock(&connection->lock);
    return alive;
}

void connection_close(struct connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    close_locked(connection);
    pthread_mutex_unlock(&connection->lock);
}

bool connection_ask(struct connection *connection, struct request *request, int timeout_ms, struct reply *reply)
{
    bool answered = false;
    reply->text = NULL;
    if (request->full)
        return false;
    pthread_mutex_lock(&connection->lock);
    int code = open_locked(connection);
    if (code > 0) { /* the greeting was refused: so is the request */
        reply->code = code;
        reply->text = reply->cursor = calloc(1, 1);
        answered = reply->text != NULL;
    } else if (code == 0) {
        answered = exchange(connection, request->text, request->length, timeout_ms, reply);
    }
    if (!answered)
        close_locked(connection);
    pthread_mutex_unlock(&connection->lock);
    return answered;
}

/* ---- device nodes ---- */

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
