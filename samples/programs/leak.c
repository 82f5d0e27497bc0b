/* Leaks on purpose: for each line on stdin one site allocates 48 blocks of 4 KiB and never frees them, while another
 * allocates and frees as much as it takes. Says how far the heap has grown since the start.
 *
 *     gcc -O1 -pthread -Wl,-z,now -o leak leak.c
 */
#include "demo.h"

#define BLOCK (4 * KIB)
#define LEAKED 48
#define RECYCLED 16

static void *volatile last; /* keeps the compiler from leaving the allocations out */

/* The leak: nobody keeps these blocks. */
static void lose_blocks(void) {
    for (int i = 0; i < LEAKED; i++) {
        char *block = malloc(BLOCK);
        if (!block) fail("malloc");
        fill(block, BLOCK);
        last = block;
    }
}

/* Honest work beside it: as many blocks given back as were taken. */
static void recycle_blocks(void) {
    char *blocks[RECYCLED];
    for (int i = 0; i < RECYCLED; i++)
        if ((last = blocks[i] = malloc(BLOCK))) fill(blocks[i], BLOCK);
    for (int i = 0; i < RECYCLED; i++) free(blocks[i]);
}

int main(void) {
    static char line[64];
    settle();
    char *start = sbrk(0);
    size_t lost = 0;
    say("ready pid=%d", (int)getpid());
    while (ask(line, sizeof line)) {
        recycle_blocks();
        lose_blocks();
        lost += LEAKED * BLOCK;
        say("done lost=%zu grown=%zu", lost, (size_t)((char *)sbrk(0) - start));
    }
    return 0;
}
