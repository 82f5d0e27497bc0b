/* A process that measures from within for how long it is held up: one thread maps, touches and unmaps all the time,
 * and notes the longest call of each kind in which it slept.
 *
 *     ./stall MAPPINGS MIB     as many mappings of one page beside one mapping of MIB, all of it in memory
 *
 * Answers `reset` by beginning anew, and anything else by what was seen since. A call counts only where the thread gave
 * up the processor of its own (ru_nvcsw), which is where it waited for a lock: on a busy machine a thread that is just
 * not on a processor would look the same.
 */
#include "../samples/programs/demo.h"
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#define PROBED_PAGES 16
#define REST_US 50

enum call { MAP, FAULT, UNMAP, CALLS };
static uint64_t longest[CALLS], rounds;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static long slept(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void note(enum call call, uint64_t start, long before) {
    uint64_t spent = now() - start;
    if (slept() != before && spent > __atomic_load_n(&longest[call], __ATOMIC_RELAXED))
        __atomic_store_n(&longest[call], spent, __ATOMIC_RELAXED);
}

static void *probe(void *page) {
    size_t size = PROBED_PAGES * page_size();
    for (;;) {
        long before = slept();
        uint64_t start = now();
        char *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        note(MAP, start, before);
        if (made == MAP_FAILED) fail("mmap");
        madvise(page, page_size(), MADV_DONTNEED);
        before = slept();
        start = now();
        *(volatile char *)page = 1;
        note(FAULT, start, before);
        before = slept();
        start = now();
        munmap(made, size);
        note(UNMAP, start, before);
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
        usleep(REST_US);
    }
    return NULL;
}

/* Neighbours of other rights are not joined. */
static void make_mappings(long count) {
    size_t page = page_size();
    if (!count) return;
    char *start = mmap(NULL, (size_t)count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) fail("mappings");
    fill(start, (size_t)count * page);
    for (long i = 1; i < count; i += 2)
        if (mprotect(start + (size_t)i * page, page, PROT_READ)) fail("mprotect");
}

/* Under `chrt -f` all of us are of one priority: the probe gets a higher one, lest it wait for a processor after all. */
static void prefer(pthread_t thread) {
    struct sched_param wanted;
    int policy;
    pthread_getschedparam(thread, &policy, &wanted);
    if (policy != SCHED_FIFO) return;
    wanted.sched_priority++;
    pthread_setschedparam(thread, policy, &wanted);
}

int main(int argc, char **arguments) {
    static char line[64];
    pthread_t thread;
    if (argc != 3) return 2;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    make_mappings(strtol(arguments[1], NULL, 10));
    size_t size = strtoul(arguments[2], NULL, 10) * MIB;
    char *large = size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
    if (large == MAP_FAILED) fail("resident");
    if (size) fill(large, size);
    void *page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || pthread_create(&thread, NULL, probe, page)) fail("probe");
    prefer(thread);
    say("ready pid=%d", (int)getpid());
    while (ask(line, sizeof line)) {
        if (!strcmp(line, "reset"))
            for (int call = 0; call < CALLS; call++) __atomic_store_n(&longest[call], 0, __ATOMIC_RELAXED);
        say("done mmap=%lu fault=%lu munmap=%lu rounds=%lu", (unsigned long)longest[MAP], (unsigned long)longest[FAULT],
            (unsigned long)longest[UNMAP], (unsigned long)rounds);
    }
    return 0;
}
