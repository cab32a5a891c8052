/* The client's side of the simulator's line protocol (lockgate/lab/wire.py): a connection, requests, replies. */
#ifndef LOCKGATE_LINE_H
#define LOCKGATE_LINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define LINE_LIMIT 65536
#ifndef CALL_TIMEOUT_MS
#define CALL_TIMEOUT_MS 10000
#endif
#define MOST_GPUS 64

enum api { API_NVML = 0, API_CUDA = 1 };

/* One connection; `lock` is held for a request and its reply. `fd` is -1 until it is needed. */
struct connection {
    pthread_mutex_t lock;
    int fd;
    pid_t owner;
    char hello[512];
};

#define CONNECTION_CLOSED { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 }

/* A request under construction; `full` once something did not fit or could not be said. */
struct request {
    size_t length;
    bool full;
    char text[4096];
};

/* A reply line: its return code, and a cursor on the values not yet taken. `text` is freed by reply_free. */
struct reply {
    int code;
    char *text;
    char *cursor;
};

/* A device or instance: minor number, GPU instance id, compute instance id. */
struct object {
    unsigned depth;
    unsigned path[3];
};

void request_begin(struct request *request, const char *function);
void request_integer(struct request *request, unsigned long long value);
void request_text(struct request *request, const char *text);
void request_object(struct request *request, const struct object *object);

/* Writes the greeting of later connections; `visible` is CUDA_VISIBLE_DEVICES or NULL. */
void connection_prepare(struct connection *connection, enum api api, const char *minors, const char *visible);

/* Gives a connection the greeting of another. */
void connection_copy(struct connection *to, struct connection *from);

/*
 * Connects if need be, sends the request, waits for the reply. False when there is no simulator, when it does not
 * answer in time, or when what it answers is not of the protocol; the connection is closed then.
 */
bool connection_ask(struct connection *connection, struct request *request, int timeout_ms, struct reply *reply);

/* Connects and greets if need be: the return code of the greeting, or -1 when there is no simulator. */
int connection_open(struct connection *connection);
/* Whether the connection still stands: the next request would not have to connect. */
bool connection_alive(struct connection *connection);
void connection_close(struct connection *connection);

/* A new connection to the simulator's socket, wherever it is; -1 when there is none. */
int connect_to_simulator(void);

/* Each takes the next value; false when it is of another kind, or there is none. */
bool reply_unsigned(struct reply *reply, unsigned long long *value);
bool reply_signed(struct reply *reply, long long *value);
bool reply_object(struct reply *reply, struct object *object);
/* `fits` tells whether the text and its NUL fit; nothing is written otherwise. */
bool reply_text(struct reply *reply, char *to, size_t size, bool *fits);
bool reply_ends(const struct reply *reply);
void reply_free(struct reply *reply);

/* The errno of opening a device node such as "nvidiactl"; 0 when the process has it, with a driver behind it or not. */
int device_node_error(const char *name);
/* The minor numbers of the device nodes that the process can open, as "0,1"; `size` bytes are enough for all. */
void visible_minors(char *to, size_t size);

#endif
