/* What the scenario programs share: talk over stdin and stdout without touching the heap, and settle every page
 * that the program's own code will need later, so that between two steps only the step itself changes memory. */
#ifndef DEMO_H
#define DEMO_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef PR_SET_THP_DISABLE
#define PR_SET_THP_DISABLE 41
#endif

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Write one line to stdout. snprintf and write need no heap; printf would allocate its buffer there. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...) {
    static char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length > sizeof line - 2) _exit(3);
    line[length] = '\n';
    if (write(STDOUT_FILENO, line, (size_t)length + 1) != length + 1) _exit(3);
}

/* Say what failed and end. */
static inline void fail(const char *what) {
    say("failed %s: %s", what, strerror(errno));
    _exit(1);
}

/* Read one line from stdin without its newline; 0 at the end of input. */
static inline int ask(char *line, size_t size) {
    size_t length = 0;
    char byte;
    while (read(STDIN_FILENO, &byte, 1) == 1) {
        if (byte == '\n') {
            line[length] = 0;
            return 1;
        }
        if (length + 1 < size) line[length++] = byte;
    }
    return 0;
}

static inline size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Read (and, where allowed, write back unchanged) the first byte of every page. */
static inline void touch(char *start, size_t size, int also_write) {
    for (size_t at = 0; at < size; at += page_size()) {
        volatile char *byte = start + at;
        char value = *byte;
        if (also_write) *byte = value;
    }
}

/* Fill with a byte that is not zero, so that no page is the kernel's shared zero page. */
static inline void fill(char *start, size_t size) { memset(start, 0x5a, size); }

static char maps_text[256 * 1024];

/* Read /proc/self/maps whole; the answer is valid until the next call. */
static inline char *read_maps(void) {
    int fd = open("/proc/self/maps", O_RDONLY);
    size_t length = 0;
    ssize_t got;
    if (fd < 0) fail("open maps");
    while ((got = read(fd, maps_text + length, sizeof maps_text - 1 - length)) > 0) length += (size_t)got;
    close(fd);
    maps_text[length] = 0;
    return maps_text;
}

/* Take the next line of maps text apart; 0 at the end. */
static inline int next_map(char **at, uintptr_t *start, uintptr_t *end, char **rights, char **name) {
    char *line = *at, *newline = strchr(line, '\n');
    if (!newline) return 0;
    *newline = 0;
    *at = newline + 1;
    *start = strtoul(line, &line, 16);
    *end = strtoul(line + 1, &line, 16);
    *rights = line + 1;
    *name = strpbrk(line, "[/");
    return 1;
}

/* Make every page present that this program's code, data and stack may need later. [vvar] and its like are left
 * alone: some of their pages raise SIGBUS, as the one of a clock that the machine does not have. */
static inline void settle_mappings(void) {
    uintptr_t start, end;
    char *rights, *name, *at = read_maps();
    while (next_map(&at, &start, &end, &rights, &name)) {
        int special = name && *name == '[' && strncmp(name, "[stack]", 7) != 0 && strncmp(name, "[heap]", 6) != 0;
        if (rights[0] == 'r' && !special)
            touch((char *)start, end - start, rights[1] == 'w' && rights[3] == 'p');
    }
}

/* Grow the stack once, further than any later call will. */
static inline void settle_stack(void) {
    volatile char room[96 * 1024];
    for (size_t at = 0; at < sizeof room; at += 1024) room[at] = 1;
}

/* Call first in main: no huge pages, no lazy first touches later, the heap made and its growth not padded. */
static inline void settle(void) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
#ifdef __GLIBC__
    mallopt(M_TOP_PAD, 0);
#endif
    char *first = malloc(32 * KIB);
    if (!first) fail("malloc");
    memset(first, 1, 32 * KIB);
    free(first);
    settle_stack();
    settle_mappings();
}

/* Map private memory at exactly this address; NULL where something else is in the way. A kernel before 4.17 takes
 * the address as a wish only, hence the comparison. */
static inline char *map_at(uintptr_t address, size_t size, int rights) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    char *got = mmap((void *)address, size, rights, flags, -1, 0);
    if (got == MAP_FAILED) return NULL;
    if ((uintptr_t)got == address) return got;
    munmap(got, size);
    return NULL;
}

#endif
