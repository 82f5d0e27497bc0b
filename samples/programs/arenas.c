/* Starts four threads that each allocate from an arena of their own (glibc gives a thread an arena at its first
 * malloc), says where, and blocks.
 *
 *     gcc -O1 -pthread -Wl,-z,now -o arenas arenas.c
 */
#include "demo.h"

#define THREADS 4
#define BLOCK (16 * KIB)
#define BLOCKS 32
#define ARENA_ALIGNMENT (64 * MIB) /* glibc, malloc/arena.c: HEAP_MAX_SIZE of 64-bit systems */

static struct {
    pthread_t thread;
    pid_t tid;
    char *block;
} workers[THREADS];
static pthread_barrier_t all_done;

static void *work(void *argument) {
    size_t me = (size_t)argument;
    workers[me].tid = (pid_t)syscall(SYS_gettid);
    for (size_t i = 0; i < BLOCKS; i++) {
        workers[me].block = malloc(BLOCK * (me + 1));
        if (!workers[me].block) fail("malloc");
        fill(workers[me].block, BLOCK * (me + 1));
    }
    pthread_barrier_wait(&all_done);
    for (;;) pause();
    return NULL;
}

int main(void) {
    static char line[64];
    settle();
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, THREADS + 1);   /* as many on a machine of one core */
    mallopt(M_MMAP_THRESHOLD, 4 * MIB);  /* all blocks from the arenas, none mapped on its own */
#endif
    pthread_barrier_init(&all_done, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++)
        if ((errno = pthread_create(&workers[i].thread, NULL, work, (void *)i))) fail("thread");
    pthread_barrier_wait(&all_done);
    for (size_t i = 0; i < THREADS; i++)
        say("arena tid=%d address=%#zx allocated=%zu", (int)workers[i].tid,
            (size_t)workers[i].block & ~(ARENA_ALIGNMENT - 1), BLOCK * BLOCKS * (i + 1));
    say("ready pid=%d", (int)getpid());
    while (ask(line, sizeof line)) continue;
    return 0;
}
