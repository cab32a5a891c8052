/* The pod's first process: holds its namespaces, reaps orphans, and ends at once when asked to. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int signal) { _exit(signal == SIGINT ? 1 : 0); }

static void reap(int signal) {
    (void)signal;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

int main(void) {
    struct sigaction ending = {.sa_handler = end};
    struct sigaction reaping = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};
    if (sigaction(SIGINT, &ending, NULL) || sigaction(SIGTERM, &ending, NULL) || sigaction(SIGCHLD, &reaping, NULL))
        return 1;
    for (;;)
        pause();
}
