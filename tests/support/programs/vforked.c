/* A process whose only thread waits, as nobody can interrupt it, for the child that it made with vfork. */
#include "../../../samples/programs/demo.h"

int main(void) {
    say("ready pid=%d", (int)getpid());
    if (vfork() == 0) {
        char byte;
        while (read(STDIN_FILENO, &byte, 1) == 1) continue;
        _exit(0);
    }
    return 0;
}
