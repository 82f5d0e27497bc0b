/* Does one thing to its memory for each line on stdin and says on stdout what it did, as `done COMMAND KEY=VALUE...`.
 * It blocks in read between steps, so that whoever looks at it sees the effect of the last step and nothing else.
 *
 *     gcc -O1 -pthread -Wl,-z,now -o reserve_commit reserve_commit.c
 *     ./reserve_commit FILE        FILE is made, 8 MiB, for the steps on a mapped file
 */
#include "demo.h"
#include <signal.h>
#include <sys/wait.h>

#define RESERVED (64 * MIB)
#define COMMITTED (16 * MIB)
#define WRITTEN (8 * MIB)
#define VIEW (8 * MIB)
#define SMALL (1 * MIB)
#define STACK (1 * MIB)
#define BLOCK (16 * KIB)
#define BLOCKS 256

static const char *file_path;
static int file_fd, memory_fd;
static char *reserved, *view, *second_view, *file_view, *private_view;
static char *blocks[BLOCKS];
static pid_t child;
static pthread_t thread;
static pid_t thread_id;

/* None of these is a multiple of 64 MiB, the alignment by which glibc's arenas are known; all are far from where
 * kernels put programs, libraries and stacks. The first that is free is taken. */
static const uintptr_t places[] = {
#if UINTPTR_MAX > 0xffffffff
    0x300012340000, 0x3012340000,
#endif
    0x51230000, 0x61230000,
};

static void reserve(void) {
    for (size_t i = 0; i < sizeof places / sizeof *places && !reserved; i++)
        reserved = map_at(places[i], RESERVED, PROT_NONE);
    if (!reserved) fail("reserve");
    say("done reserve address=%p size=%zu", (void *)reserved, RESERVED);
}

static void commit(void) {
    if (mprotect(reserved, COMMITTED, PROT_READ | PROT_WRITE)) fail("commit");
    say("done commit address=%p size=%zu", (void *)reserved, COMMITTED);
}

static void write_some(void) {
    fill(reserved, WRITTEN);
    say("done write address=%p size=%zu", (void *)reserved, WRITTEN);
}

static void decommit(void) {
    if (madvise(reserved, COMMITTED, MADV_DONTNEED)) fail("decommit");
    if (mprotect(reserved, COMMITTED, PROT_NONE)) fail("decommit");
    say("done decommit address=%p size=%zu", (void *)reserved, COMMITTED);
}

static void release(void) {
    if (munmap(reserved, RESERVED)) fail("release");
    say("done release address=%p size=%zu", (void *)reserved, RESERVED);
    reserved = NULL;
}

static char *map_view(int fd, int rights, int sharing, const char *what) {
    char *got = mmap(NULL, VIEW, rights, sharing, fd, 0);
    if (got == MAP_FAILED) fail(what);
    say("done %s address=%p size=%zu", what, (void *)got, VIEW);
    return got;
}

static void memfd_map(void) { view = map_view(memory_fd, PROT_READ | PROT_WRITE, MAP_SHARED, "memfd_map"); }

static void memfd_write(void) {
    fill(view, VIEW);
    say("done memfd_write address=%p size=%zu", (void *)view, VIEW);
}

static void memfd_map2(void) { second_view = map_view(memory_fd, PROT_READ, MAP_SHARED, "memfd_map2"); }

static void memfd_read2(void) {
    touch(second_view, VIEW, 0);
    say("done memfd_read2 address=%p size=%zu", (void *)second_view, VIEW);
}

static void memfd_unmap(void) {
    if (munmap(view, VIEW) || munmap(second_view, VIEW)) fail("memfd_unmap");
    say("done memfd_unmap");
}

static void file_map(void) { file_view = map_view(file_fd, PROT_READ, MAP_SHARED, "file_map"); }

static void file_read(void) {
    touch(file_view, VIEW, 0);
    say("done file_read address=%p size=%zu", (void *)file_view, VIEW);
}

static void file_unmap(void) {
    if (munmap(file_view, VIEW)) fail("file_unmap");
    say("done file_unmap");
}

static void file_private_map(void) {
    private_view = map_view(file_fd, PROT_READ | PROT_WRITE, MAP_PRIVATE, "file_private_map");
}

static void file_private_write(void) {
    fill(private_view, SMALL);
    say("done file_private_write address=%p size=%zu", (void *)private_view, SMALL);
}

static void lock_some(void) {
    if (mlock(private_view, SMALL)) fail("mlock");
    say("done mlock address=%p size=%zu", (void *)private_view, SMALL);
}

static void unlock_some(void) {
    if (munlock(private_view, SMALL)) fail("munlock");
    say("done munlock address=%p size=%zu", (void *)private_view, SMALL);
}

static void fork_child(void) {
    child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left behind when the parent is killed */
        for (;;) pause();
    }
    say("done fork child=%d", (int)child);
}

static void end_child(void) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    say("done end_child");
}

static void *wait_for_ever(void *unused) {
    __atomic_store_n(&thread_id, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    for (;;) pause();
    return unused;
}

static void start_thread(void) {
    pthread_attr_t attributes;
    size_t guard = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_getguardsize(&attributes, &guard);
    if ((errno = pthread_create(&thread, &attributes, wait_for_ever, NULL))) fail("thread");
    while (!__atomic_load_n(&thread_id, __ATOMIC_ACQUIRE)) usleep(1000);
    say("done thread tid=%d stack=%zu guard=%zu", (int)thread_id, STACK, guard);
}

static void malloc_small(void) {
    char *before = sbrk(0);
    for (size_t i = 0; i < BLOCKS; i++) {
        if (!(blocks[i] = malloc(BLOCK))) fail("malloc_small");
        fill(blocks[i], BLOCK);
    }
    say("done malloc_small grown=%zu size=%zu", (size_t)((char *)sbrk(0) - before), BLOCK * BLOCKS);
}

static const struct {
    const char *name;
    void (*run)(void);
} steps[] = {
    {"reserve", reserve},
    {"commit", commit},
    {"write", write_some},
    {"decommit", decommit},
    {"release", release},
    {"memfd_map", memfd_map},
    {"memfd_write", memfd_write},
    {"memfd_map2", memfd_map2},
    {"memfd_read2", memfd_read2},
    {"memfd_unmap", memfd_unmap},
    {"file_map", file_map},
    {"file_read", file_read},
    {"file_unmap", file_unmap},
    {"file_private_map", file_private_map},
    {"file_private_write", file_private_write},
    {"mlock", lock_some},
    {"munlock", unlock_some},
    {"fork", fork_child},
    {"end_child", end_child},
    {"thread", start_thread},
    {"malloc_small", malloc_small},
};

static void make_backing(void) {
    static char chunk[64 * 1024];
    memset(chunk, 0x5a, sizeof chunk);
    file_fd = open(file_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    memory_fd = memfd_create("demo", MFD_CLOEXEC);
    if (file_fd < 0 || memory_fd < 0 || ftruncate(memory_fd, VIEW)) fail("make backing");
    for (size_t done = 0; done < VIEW; done += sizeof chunk)
        if (write(file_fd, chunk, sizeof chunk) != (ssize_t)sizeof chunk) fail("write backing");
}

int main(int count, char **arguments) {
    static char line[64];
    if (count != 2) return 2;
    file_path = arguments[1];
    make_backing();
    /* Libraries end in anonymous read-write memory, and older kernels would join a thread's stack, mapped right
     * below, to it: a page of other rights between them keeps the two apart. */
    if (mmap(NULL, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) fail("fence");
    settle();
    say("ready pid=%d", (int)getpid());
    while (ask(line, sizeof line)) {
        size_t i = 0, known = sizeof steps / sizeof *steps;
        while (i < known && strcmp(steps[i].name, line) != 0) i++;
        if (i == known) return 2;
        steps[i].run();
    }
    return 0;
}
