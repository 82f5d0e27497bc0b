/** A server that warms up: it answers made requests at a steady rate and keeps what it answered, up to a limit. */
public final class WarmUp {
    static final int KEPT = 1500, REQUEST = 4096, PAUSE_MS = 1;

    public static void main(String[] arguments) throws Exception {
        byte[][] cache = new byte[KEPT][];
        System.out.println("ready pid=" + ProcessHandle.current().pid());
        for (int request = 0; System.in.available() == 0; request++) {
            byte[] answer = new byte[REQUEST];
            for (int i = 0; i < 8; i++) answer = (new String(answer, "ISO-8859-1") + request).getBytes("ISO-8859-1");
            cache[request % KEPT] = answer;
            Thread.sleep(PAUSE_MS);
        }
    }
}
