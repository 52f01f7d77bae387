import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;

/**
 * Runs many commands of Kafka's tools in one JVM: a start costs more than most commands do.
 *
 * <p>Each input line is {@code {"main": "org.apache.kafka.tools.GroupsCommand", "args": ["--list", ...]}}; each output line is
 * {@code {"code": 0, "output": "..."}}, with what the command wrote on both streams, one after the other as it came. A command
 * that wants to end the process ends its thread only; what it would write after that is not kept. One that takes longer than
 * a minute is left behind and answered with code -1.
 */
public final class KafkaTools {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long DEADLINE_MS = 60_000;

    /** Ends a command's thread in place of the process. */
    private static final class Ended extends Error {
        Ended() {
            super(null, null, false, false);
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            if (line.isBlank()) continue;
            JsonNode command = JSON.readTree(line);
            out.println(JSON.writeValueAsString(run(command)));
            out.flush();
        }
        System.exit(0);
    }

    private static ObjectNode run(JsonNode command) throws Exception {
        Method main = Class.forName(command.get("main").asText()).getMethod("main", String[].class);
        String[] args = JSON.convertValue(command.get("args"), String[].class);
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        PrintStream kept = new PrintStream(written, true, StandardCharsets.UTF_8);
        PrintStream lost = new PrintStream(PrintStream.nullOutputStream());
        System.setOut(kept);
        System.setErr(kept);
        AtomicReference<Integer> code = new AtomicReference<>();
        onExit(status -> {
            code.compareAndSet(null, status);
            System.setOut(lost);
            System.setErr(lost);
            throw new Ended();
        });
        Thread thread = new Thread(() -> {
            try {
                main.invoke(null, (Object) args);
                code.compareAndSet(null, 0);
            } catch (InvocationTargetException thrown) {
                if (thrown.getCause() instanceof Ended) return;
                code.compareAndSet(null, 1);
                thrown.getCause().printStackTrace(kept);
            } catch (IllegalAccessException impossible) {
                throw new IllegalStateException(impossible);
            }
        }, "command");
        thread.setDaemon(true);
        thread.start();
        thread.join(DEADLINE_MS);
        kept.flush();
        return JSON.createObjectNode()
            .put("code", code.get() == null ? -1 : code.get())
            .put("output", written.toString(StandardCharsets.UTF_8));
    }

    /** Kafka ends the process through a class of its own, which has moved between releases. */
    private static void onExit(IntConsumer end) throws Exception {
        Class<?> exit;
        try {
            exit = Class.forName("org.apache.kafka.common.utils.internals.Exit");
        } catch (ClassNotFoundException older) {
            exit = Class.forName("org.apache.kafka.common.utils.Exit");
        }
        Class<?> procedure = Class.forName(exit.getName() + "$Procedure");
        Object proxy = Proxy.newProxyInstance(exit.getClassLoader(), new Class<?>[] {procedure}, (self, method, args) -> {
            end.accept((int) args[0]);
            return null;
        });
        exit.getMethod("setExitProcedure", procedure).invoke(null, proxy);
        exit.getMethod("setHaltProcedure", procedure).invoke(null, proxy);
    }
}
