// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.watch.StatusServer;
import io.kiln.flow.worker.FarmStep;
import io.kiln.flow.worker.FarmStep.Serving;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.RunningProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code kiln:farm} in a process of its own: a broker that can be killed, with its figures and its log. */
final class BrokerProgram implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 10_000;

    private final RunningProcess process;
    private final BufferedReader said;
    private final FarmAddress address;
    private final String figures;

    private BrokerProgram(RunningProcess process, BufferedReader said, FarmAddress address, String figures) {
        this.process = process;
        this.said = said;
        this.address = address;
        this.figures = figures;
    }

    /** Arguments: the address, the folder of the queues, the folder of keys or nothing, the port of the figures. Answers each line of its standard input with the bytes of its heap that are in use. */
    public static void main(String[] args) throws Exception {
        FarmAddress wanted = SoakPlace.address(args[0], args[2], "broker");
        Path folder = Path.of(args[1]);
        Log log = Log.of(
                line -> {
                    if (line.startsWith("F")) {
                        System.out.println(line);
                    }
                },
                line -> {},
                line -> {});
        Thread asked = new Thread(BrokerProgram::answer, "asked");
        asked.setDaemon(true);
        asked.start();
        try {
            new FarmStep(log, folder.resolve("reports"))
                    .serve(new Serving(
                            wanted,
                            folder,
                            1,
                            Optional.of(StatusServer.address("http://localhost:" + args[3], wanted))));
        } catch (KilnException e) {
            System.err.println(e.getMessage());
            // As Maven does: threads of the engine may live for a minute.
            System.exit(1);
        }
    }

    /** Answers until nobody can ask any more: then whoever started it was killed. */
    private static void answer() {
        try {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                System.gc();
                System.out.println(
                        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            }
            System.exit(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Starts one, and waits until it serves.
     *
     * @param before words of the command line before {@code java}
     * @param keys folder of keys; empty for a password
     * @param figures port of its figures; 0 for any
     * @param heap its largest heap in MB
     */
    static BrokerProgram fork(List<String> before, String url, Path folder, String keys, int figures, int heap) {
        List<String> line = new ArrayList<>(before);
        line.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap + "m",
                "-XX:+UseSerialGC",
                "-Dslf4j.internal.verbosity=ERROR",
                "-cp",
                System.getProperty("java.class.path"),
                BrokerProgram.class.getName(),
                url,
                folder.toString(),
                keys,
                String.valueOf(figures)));
        RunningProcess process = ProcessRunner.start(Command.ofLine(line).within(Duration.ofHours(4)));
        BufferedReader said = new BufferedReader(new InputStreamReader(process.output(), StandardCharsets.UTF_8));
        try {
            FarmAddress farm = SoakPlace.address(word(process, said, "Farm "), keys, "member");
            return new BrokerProgram(process, said, farm, word(process, said, "Figures: "));
        } catch (IOException | RuntimeException e) {
            process.close();
            throw new IllegalStateException(e);
        }
    }

    private static String word(RunningProcess process, BufferedReader said, String before) {
        try {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (line.startsWith(before)) {
                    return line.substring(before.length()).split(",", 2)[0];
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("the broker does not start: " + process.errors());
    }

    FarmAddress address() {
        return address;
    }

    /** What it tells programs under a path such as {@code /metrics}. */
    String told(String path) throws IOException {
        HttpURLConnection asked = (HttpURLConnection)
                URI.create(figures.replaceFirst("/metrics$", path)).toURL().openConnection();
        asked.setConnectTimeout(PATIENCE_MILLIS);
        asked.setReadTimeout(PATIENCE_MILLIS);
        boolean isWell = asked.getResponseCode() == HttpURLConnection.HTTP_OK;
        try (InputStream answer = isWell ? asked.getInputStream() : asked.getErrorStream()) {
            return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** What it said last of its end; empty if it was killed. */
    String said() {
        return process.errors()
                .lines()
                .filter(line -> !line.startsWith("SLF4J"))
                .reduce("", (first, second) -> second);
    }

    ProcessHandle handle() {
        return ProcessHandle.of(process.pid()).orElseThrow();
    }

    /** Bytes of its heap that are in use after a collection. */
    long heap() {
        try {
            process.input().write('\n');
            process.input().flush();
            return Long.parseLong(said.readLine());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills it, as a computer that loses its power would. */
    @Override
    public void close() {
        Optional<ProcessHandle> alive = ProcessHandle.of(process.pid());
        alive.ifPresent(handle -> {
            handle.destroyForcibly();
            handle.onExit().join();
        });
        process.close();
    }
}
