/* Serves with workers. For a line on stdin, "worker KIB" forks one, which writes to KIB of its own beside a table that the
 * parent filled first and that all share; "grow KIB" lets the parent allocate and write more.
 *
 *     gcc -O1 -pthread -Wl,-z,now -o workers workers.c
 */
#include "demo.h"
#include <signal.h>

#define TABLE (2 * MIB)

static char *volatile last; /* keeps the compiler from leaving the allocations out */

/* Memory that is written to and never given back. */
static void take(size_t size) {
    char *block = last = malloc(size);
    if (!block) fail("malloc");
    fill(block, size);
}

/* What a worker does: it takes its memory, says that it has it, and ends with its parent. */
static void work(size_t size, int told) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "worker");
    take(size);
    if (write(told, ".", 1) != 1) fail("write");
    for (;;) pause();
}

static pid_t start_worker(size_t size) {
    int told[2];
    char byte;
    if (pipe(told)) fail("pipe");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) work(size, told[1]);
    if (read(told[0], &byte, 1) != 1) fail("read");
    close(told[0]);
    close(told[1]);
    return child;
}

int main(void) {
    static char line[64];
    unsigned long kib;
    settle();
    take(TABLE);
    say("ready pid=%d", (int)getpid());
    while (ask(line, sizeof line)) {
        if (sscanf(line, "worker %lu", &kib) == 1) {
            say("done worker pid=%d", (int)start_worker(kib * KIB));
        } else if (sscanf(line, "grow %lu", &kib) == 1) {
            take(kib * KIB);
            say("done grow");
        } else {
            fail("unknown command");
        }
    }
    return 0;
}
