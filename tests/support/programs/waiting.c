/* A process with a thread in each of some calls that wait, for a second; says what each returned. */
#include "../../../samples/programs/demo.h"
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>

#define SECONDS 3

static int results[5];

static void *wait_epoll(void *unused) {
    struct epoll_event event;
    results[0] = epoll_wait(epoll_create1(0), &event, 1, SECONDS * 1000) < 0 ? errno : 0;
    return unused;
}

static void *wait_semaphore(void *unused) {
    struct timespec most = {SECONDS, 0};
    struct sembuf take = {0, -1, 0};
    int set = semget(IPC_PRIVATE, 1, 0600);
    results[1] = semtimedop(set, &take, 1, &most) < 0 ? errno : 0;
    semctl(set, 0, IPC_RMID);
    return unused;
}

static void *wait_signal(void *unused) {
    struct timespec most = {SECONDS, 0};
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR2);
    results[2] = sigtimedwait(&wanted, NULL, &most) < 0 ? errno : 0;
    return unused;
}

static void *wait_poll(void *unused) {
    results[3] = poll(NULL, 0, SECONDS * 1000) < 0 ? errno : 0;
    return unused;
}

static void *wait_time(void *unused) {
    struct timespec most = {SECONDS, 0};
    results[4] = nanosleep(&most, NULL) < 0 ? errno : 0;
    return unused;
}

int main(void) {
    static void *(*const calls[5])(void *) = {wait_epoll, wait_semaphore, wait_signal, wait_poll, wait_time};
    pthread_t threads[5];
    char line[64];
    for (int i = 0; i < 5; i++)
        if (pthread_create(&threads[i], NULL, calls[i], NULL)) fail("thread");
    say("ready pid=%d", (int)getpid());
    while (ask(line, sizeof line)) {
        for (int i = 0; i < 5; i++) pthread_join(threads[i], NULL);
        say("done epoll_wait=%d semtimedop=%d sigtimedwait=%d poll=%d nanosleep=%d", results[0], results[1], results[2],
            results[3], results[4]);
    }
    return 0;
}
