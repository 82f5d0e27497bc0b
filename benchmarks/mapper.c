/* Makes a process with very many mappings of mixed rights and names, 1 to 512 pages each, touched to a random part, so
 * that most of the counter blocks of its smaps differ. Then blocks in read.
 *
 *     ./mapper FOLDER COUNT        FOLDER takes 32 sparse files of 4 MiB; COUNT mappings, 33000 below the usual limit
 *
 * The same numbers come out in every run (own random numbers, fixed seed). About 2 GiB of memory for 33000.
 */
#include "../samples/programs/demo.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define FILES 32
#define MEMFDS 64
#define MOST_PAGES 512
#define BACKING_PAGES 1024
#define SLAB_PAGES 64 /* shared memory is mapped from multiples of this */
#define MOST_TOUCHED 64 /* pages of one mapping: anonymous ones are real memory */

static int files[FILES], memfds[MEMFDS];
static char *next_address = (char *)0x200000000000;

/* xorshift64 (Marsaglia 2003): the same everywhere, unlike rand. */
static uint64_t state = 88172645463325252u;
static size_t below(size_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

/* What a mapping is: of 16 drawn, so many are of each kind. */
enum backing { ANONYMOUS, MEMFD, FILE_BACKED };
static const struct kind {
    enum backing backing;
    int rights, sharing, touch_for_writing;
} kinds[16] = {
    {ANONYMOUS, PROT_READ | PROT_WRITE, MAP_PRIVATE, 1},
    {ANONYMOUS, PROT_READ | PROT_WRITE, MAP_PRIVATE, 1},
    {ANONYMOUS, PROT_READ | PROT_WRITE, MAP_PRIVATE, 1},
    {ANONYMOUS, PROT_READ | PROT_WRITE, MAP_PRIVATE, 1},
    {ANONYMOUS, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, 1},
    {ANONYMOUS, PROT_READ | PROT_WRITE, MAP_SHARED, 1},
    {ANONYMOUS, PROT_READ, MAP_PRIVATE, 1},
    {ANONYMOUS, PROT_NONE, MAP_PRIVATE, 1},
    {MEMFD, PROT_READ | PROT_WRITE, MAP_SHARED, 1},
    {MEMFD, PROT_READ | PROT_WRITE, MAP_SHARED, 1},
    {MEMFD, PROT_READ, MAP_SHARED, 0},
    {FILE_BACKED, PROT_READ, MAP_SHARED, 0},
    {FILE_BACKED, PROT_READ, MAP_PRIVATE, 0},
    {FILE_BACKED, PROT_READ, MAP_PRIVATE, 0},
    {FILE_BACKED, PROT_READ | PROT_EXEC, MAP_PRIVATE, 0},
    {FILE_BACKED, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0},
};

static void make_backing(const char *folder) {
    char name[512];
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%s/library-%02d.bin", folder, i);
        files[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (files[i] < 0 || ftruncate(files[i], (off_t)(BACKING_PAGES * page_size()))) fail("file");
    }
    for (int i = 0; i < MEMFDS; i++) {
        snprintf(name, sizeof name, "pool %02d", i);
        memfds[i] = memfd_create(name, 0);
        if (memfds[i] < 0 || ftruncate(memfds[i], (off_t)(BACKING_PAGES * page_size()))) fail("memfd");
    }
}

/* One mapping in eight carries advice, for flags of other kinds. */
static void advise(char *start, size_t size, const struct kind *kind) {
    switch (below(32)) {
    case 0: madvise(start, size, MADV_DONTDUMP); break;
    case 1: madvise(start, size, MADV_RANDOM); break;
    case 2: madvise(start, size, MADV_SEQUENTIAL); break;
    case 3:
        if (kind->backing == ANONYMOUS && kind->sharing == MAP_PRIVATE) madvise(start, size / 2, MADV_FREE);
        break;
    }
}

static void add_mapping(void) {
    static char name[32];
    const struct kind *kind = &kinds[below(16)];
    size_t pages = 1 + below(MOST_PAGES), size = pages * page_size();
    int rights = kind->backing == ANONYMOUS ? PROT_READ | PROT_WRITE : kind->rights;
    int flags = kind->sharing | MAP_FIXED_NOREPLACE | (kind->backing == ANONYMOUS ? MAP_ANONYMOUS : 0);
    int fd = kind->backing == MEMFD ? memfds[below(MEMFDS)] : kind->backing == FILE_BACKED ? files[below(FILES)] : -1;
    off_t offset = kind->backing == MEMFD ? (off_t)(below(BACKING_PAGES / SLAB_PAGES - 8) * SLAB_PAGES * page_size()) : 0;
    /* Anonymous neighbours of like rights would be joined into one mapping. */
    if (kind->backing == ANONYMOUS || below(2)) next_address += page_size();
    char *start = mmap(next_address, size, rights, flags, fd, offset);
    if (start != next_address) fail("mmap");
    size_t touched = below((pages < MOST_TOUCHED ? pages : MOST_TOUCHED) + 1) * page_size();
    if (kind->touch_for_writing) fill(start + (size - touched), touched);
    else touch(start, touched, rights & PROT_WRITE && below(2));
    if (rights != kind->rights && mprotect(start, size, kind->rights)) fail("mprotect");
    /* Has an effect only where the kernel was built with CONFIG_ANON_VMA_NAME. */
    snprintf(name, sizeof name, "arena %zu", below(64));
    if (kind->backing == ANONYMOUS && below(2)) prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, start, size, name);
    advise(start, size, kind);
    next_address += size;
}

int main(int count, char **arguments) {
    static char line[64];
    if (count != 3) return 2;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    make_backing(arguments[1]);
    for (long left = strtol(arguments[2], NULL, 10); left > 0; left--) add_mapping();
    say("ready pid=%d", (int)getpid());
    while (ask(line, sizeof line)) continue;
    return 0;
}
