/* The connection to the simulator: where it is, one request and its reply at a time, nothing without a deadline. */
#define _POSIX_C_SOURCE 200809L

#include "line.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PROTOCOL 1

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
    connection->fd = connect_to_simulator();
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
