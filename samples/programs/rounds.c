/* Works in rounds, one every PAUSE ms: takes a buffer, fills it, and gives back one that it took some rounds ago.
 * `rounds leak` forgets a small buffer in each round, `rounds fixed` does not: the same program otherwise, with
 * the same requests in the same order. It has worked for a while before it is ready, and says after each round how
 * many bytes are forgotten by then.
 *
 *     gcc -O1 -pthread -Wl,-z,now -o rounds rounds.c && ./rounds leak 20
 */
#include "demo.h"

#define FORGOTTEN (8 * KIB)
#define HELD 32
#define LARGEST (64 * KIB)
#define BEFORE 2000

static char *held[HELD];
static void *volatile last; /* keeps the compiler from leaving the leak out */

static unsigned draw(void) { /* the same numbers in every run (Marsaglia, Xorshift RNGs, 2003) */
    static unsigned state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static char *take(size_t size) {
    char *buffer = malloc(size);
    if (!buffer) fail("malloc");
    fill(buffer, size);
    return buffer;
}

static void work(void) {
    char **place = &held[draw() % HELD];
    free(*place);
    *place = take(1 + draw() % LARGEST);
}

int main(int count, char **words) {
    int leaks = count > 1 && !strcmp(words[1], "leak");
    int pause = count > 2 ? atoi(words[2]) : 20;
    size_t forgotten = 0;
    settle();
    for (int round = 0; round < BEFORE; round++) work();
    say("ready pid=%d", (int)getpid());
    for (;;) {
        work();
        if (leaks) {
            last = take(FORGOTTEN);
            forgotten += FORGOTTEN;
        }
        say("done forgotten=%zu", forgotten);
        usleep((useconds_t)pause * 1000);
    }
}
