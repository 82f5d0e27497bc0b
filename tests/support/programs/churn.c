/* A process that never holds still: threads that map and unmap at full speed, others that begin and end all the time,
 * and a handler that counts signals which the kernel queues, so that none may be lost.
 *
 *     ./churn THREADS      blocks in read; answers each line with what it has done so far
 */
#include "../../../samples/programs/demo.h"
#include <signal.h>

#define MOST_PAGES 64

static volatile sig_atomic_t signals;
static volatile long rounds, started;

static void count(int number) {
    (void)number;
    signals++; /* only the main thread takes them */
}

static void map_once(size_t pages) {
    size_t size = pages * page_size();
    char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) fail("mmap");
    fill(start, size);
    if (munmap(start, size)) fail("munmap");
    __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
}

static void *churn(void *unused) {
    (void)unused;
    for (size_t pages = 1;; pages = pages % MOST_PAGES + 1) map_once(pages);
    return NULL;
}

static void *come_and_go(void *unused) {
    (void)unused;
    map_once(1);
    __atomic_add_fetch(&started, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *spawn(void *unused) {
    (void)unused;
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, come_and_go, NULL)) fail("thread");
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void start(void *(*work)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL)) fail("thread");
}

int main(int argc, char **arguments) {
    static char line[64];
    if (argc != 2) return 2;
    sigset_t counted;
    sigemptyset(&counted);
    sigaddset(&counted, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &counted, NULL); /* threads inherit it */
    for (long left = strtol(arguments[1], NULL, 10); left > 0; left--) start(churn);
    if (arguments[1][0] != '0') start(spawn);
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigaction(SIGRTMIN, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, &counted, NULL);
    say("ready pid=%d", (int)getpid());
    while (ask(line, sizeof line)) say("done signals=%ld rounds=%ld started=%ld", (long)signals, rounds, started);
    return 0;
}
