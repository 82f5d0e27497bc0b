/** Holds some live objects and some garbage in a small heap, starts three threads, says its pid and blocks. */
public final class Blocked {
    static final int LIVE = 2000;

    public static void main(String[] arguments) throws Exception {
        byte[][] live = new byte[LIVE][];
        for (int i = 0; i < 10 * LIVE; i++) live[i % LIVE] = new byte[4096];
        for (int i = 0; i < 3; i++) {
            Thread worker = new Thread(() -> { try { Thread.sleep(Long.MAX_VALUE); } catch (InterruptedException e) { return; } });
            worker.setName("worker-" + i);
            worker.setDaemon(true);
            worker.start();
        }
        System.out.println("ready pid=" + ProcessHandle.current().pid());
        System.in.read();
        System.out.println("kept=" + live.length);
    }
}
