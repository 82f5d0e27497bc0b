/* Fills its whole address space with reservations, but for some holes of known sizes, and says where they are; then
 * asks the kernel itself for memory of several sizes and says what came of it: `request size=N fits=1` or `fits=0`.
 * What an analysis says of free space and of the next allocation can be compared with both.
 *
 *     gcc -O1 -pthread -Wl,-z,now -o fragmented fragmented.c
 *
 * Reserved address space costs nothing: no page of it is ever touched.
 */
#include "demo.h"

#define GAP (256 * KIB)       /* left between neighbouring holes: the splitters */
#define STACK_GAP (1 * MIB)   /* the kernel keeps 256 pages free below a stack, and gives them to nobody */

/* Whole pages everywhere; two holes start off a 64 KiB boundary on purpose. */
static const size_t hole_sizes[] = {
    64 * 1024,       3 * 1024 * 1024, 4 * 1024,         1024 * 1024, 20 * 1024 * 1024,
    7 * 1024 * 1024, 12 * 1024,       16 * 1024 * 1024, 128 * 1024,  2 * 1024 * 1024,
};
static const size_t requests[] = {
    4 * 1024, 64 * 1024, 1024 * 1024, 16 * 1024 * 1024, 20 * 1024 * 1024, 20 * 1024 * 1024 + 4096, 64 * 1024 * 1024,
};
#define HOLES (sizeof hole_sizes / sizeof *hole_sizes)

#if UINTPTR_MAX > 0xffffffff
#define WINDOW ((uintptr_t)0x300012340000)
#else
#define WINDOW ((uintptr_t)0x51230000)
#endif

static uintptr_t holes[HOLES];

static uintptr_t lowest_address(void) {
    char text[32] = "";
    int fd = open("/proc/sys/vm/mmap_min_addr", O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof text - 1) < 0) fail("mmap_min_addr");
    close(fd);
    return strtoul(text, NULL, 10);
}

/* Reserve one block for all holes and splitters, then cut the holes out of it. */
static uintptr_t lay_out(uintptr_t at) {
    size_t total = GAP;
    for (size_t i = 0; i < HOLES; i++) total += hole_sizes[i] + GAP + page_size();
    if (!map_at(at, total, PROT_NONE)) fail("window");
    uintptr_t end = at + total;
    at += GAP;
    for (size_t i = 0; i < HOLES; i++) {
        if (i == 1 || i == 4) at += page_size();
        if (munmap((void *)at, hole_sizes[i])) fail("hole");
        holes[i] = at;
        at += hole_sizes[i] + GAP;
    }
    return end;
}

/* Reserve [from, to) in pieces as large as the kernel allows. */
static void reserve_range(uintptr_t from, uintptr_t to) {
    size_t step = to - from;
    while (from < to && step >= page_size()) {
        if (step > to - from) step = to - from;
        if (map_at(from, step, PROT_NONE)) from += step;
        else step = step / 2 / page_size() * page_size();
    }
}

/* Reserve every gap outside the window, up to the end of the address space, which the last mapping below the
 * kernel's half (the vdso or the stack) leaves open. */
static void fill_gaps(uintptr_t window_start, uintptr_t window_end) {
    uintptr_t start, end, last = lowest_address();
    char *rights, *name, *at = read_maps();
    while (next_map(&at, &start, &end, &rights, &name)) {
        if (name && strcmp(name, "[vsyscall]") == 0) break;
        uintptr_t limit = name && strcmp(name, "[stack]") == 0 ? start - STACK_GAP : start;
        if (limit > last && !(last >= window_start && limit <= window_end)) reserve_range(last, limit);
        last = end;
    }
    for (size_t step = (size_t)1 << 46; step >= page_size(); step /= 2)
        while (map_at(last, step, PROT_NONE)) last += step;
}

static void ask_kernel(void) {
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        char *got = mmap(NULL, requests[i], PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        say("request size=%zu fits=%d", requests[i], got != MAP_FAILED);
        if (got != MAP_FAILED) munmap(got, requests[i]);
    }
}

int main(void) {
    static char line[64];
    settle();
    uintptr_t window_end = lay_out(WINDOW);
    fill_gaps(WINDOW, window_end);
    say("window start=%#zx end=%#zx", (size_t)WINDOW, (size_t)window_end);
    for (size_t i = 0; i < HOLES; i++) say("hole start=%#zx size=%zu", (size_t)holes[i], hole_sizes[i]);
    ask_kernel();
    say("ready pid=%d", (int)getpid());
    while (ask(line, sizeof line)) continue;
    return 0;
}
