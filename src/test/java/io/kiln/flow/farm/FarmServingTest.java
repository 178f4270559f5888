// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.farm.job.FarmJob;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmMessage;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.link.FarmMessage.Manner;
import io.kiln.farm.link.FarmQueues;
import io.kiln.farm.watch.StatusServer;
import io.kiln.flow.worker.FarmStep;
import io.kiln.flow.worker.FarmStep.Serving;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A broker as {@code kiln:farm} runs it: what operators see of it, and that nothing that fails in showing ends it. */
final class FarmServingTest {
    private static final FarmAccess MEMBER = FarmAccess.by("tea and scones");

    /** A line of Prometheus' text form: a comment, or a name with labels and a number. */
    private static final Pattern FIGURE =
            Pattern.compile("# (HELP|TYPE) [a-z_0-9]+ .*|[a-z_0-9]+(\\{[a-z_]+=\"[^\"]*\"(,[a-z_]+=\"[^\"]*\")*\\})?"
                    + " (-?[0-9.]+(E-?[0-9]+)?|NaN|\\+Inf)");

    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();

    private Optional<String> said(String pattern) throws InterruptedException {
        Pattern wanted = Pattern.compile(pattern);
        for (int i = 0; i < 400; i++) {
            synchronized (log.said()) {
                for (String line : log.said()) {
                    Matcher found = wanted.matcher(line);
                    if (found.find()) {
                        return Optional.of(found.group(1));
                    }
                }
            }
            Thread.sleep(50);
        }
        return Optional.empty();
    }

    private String get(int port, String path, String host) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                OutputStream out = socket.getOutputStream();
                InputStream in = socket.getInputStream()) {
            out.write(("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void a_page_that_cannot_be_written_ends_nothing_and_figures_go_on() throws Exception {
        FarmAddress here = FarmAddress.parse("tcp://localhost:0", MEMBER);
        Path reports = Files.writeString(folder.resolve("reports"), "in the way");
        FarmStep step = new FarmStep(log, reports);
        Serving how = new Serving(
                here, folder.resolve("farm"), 1, Optional.of(StatusServer.address("http://localhost:0", here)));
        Thread serving = new Thread(() -> step.serve(how), "serving");
        serving.start();
        try {
            String farm = said("^Farm (tcp://localhost:[0-9]+), queues in ").orElseThrow();
            assertThat(said("^(The farm goes on, but its state cannot be shown: .*)"))
                    .isPresent();
            int port = Integer.parseInt(
                    said("^Figures: http://localhost:([0-9]+)/metrics").orElseThrow());
            // The one who asks cannot write the page either, and is told.
            assertThatThrownBy(() -> step.show(FarmAddress.parse(farm, MEMBER), FarmOrder.HOLD, "w"))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining(reports.toString());
            assertThat(said("^(event=held unit=w )")).isPresent();
            Thread.sleep(1500);
            String figures = get(port, "/metrics", "localhost:" + port);
            assertThat(figures)
                    .startsWith("HTTP/1.1 200 OK")
                    .containsIgnoringCase("Content-Type: text/plain; version=0.0.4");
            List<String> lines = figures.substring(figures.indexOf("\r\n\r\n"))
                    .strip()
                    .lines()
                    .toList();
            assertThat(lines).allMatch(line -> FIGURE.matcher(line).matches());
            assertThat(lines)
                    .contains(
                            "kiln_farm_queue_messages{queue=\"kiln.jobs\"} 0.0",
                            "kiln_farm_oldest_job_seconds 0.0",
                            "kiln_farm_events_total{event=\"held\"} 1.0",
                            "kiln_farm_held{why=\"maintenance\"} 1.0")
                    .anyMatch(line -> line.startsWith("jvm_memory_used_bytes"));
            assertThat(get(port, "/health", "127.0.0.1"))
                    .startsWith("HTTP/1.1 200 OK")
                    .endsWith("well\n");
            assertThat(get(port, "/farm.json", "localhost")).contains("\"unit\" : \"w\"");
            assertThat(get(port, "/", "localhost")).contains("<h1>Farm tcp://localhost:");
            assertThat(get(port, "/other", "localhost")).startsWith("HTTP/1.1 404");
            assertThat(get(port, "/metrics", "evil.example")).startsWith("HTTP/1.1 403");
            assertThat(log.warnings())
                    .filteredOn(line -> line.startsWith("The farm goes on"))
                    .hasSize(1);
        } finally {
            serving.interrupt();
            serving.join();
        }
        assertThat(Files.readAllLines(folder.resolve("farm/log/farm.0.log")))
                .anyMatch(line -> line.matches("20[0-9T:.-]+Z WARN event=held unit=w quarantine=false reason=.*"));
    }

    @Test
    void a_broker_that_is_told_to_end_says_what_it_keeps() throws Exception {
        Path kept = folder.resolve("told");
        // It ends before the optimizing compiler would pay.
        List<String> java = List.of("env", "JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1");
        try (BrokerProgram broker = BrokerProgram.fork(java, "tcp://localhost:0", kept, "", 0, 256)) {
            try (FarmLink link = FarmLink.open(broker.address())) {
                link.send(
                        FarmQueues.JOBS,
                        new FarmMessage(
                                Map.of(FarmQueues.JOB, FarmJob.newId()),
                                Bytes.ofText("x"),
                                Manner.once("x", Duration.ofHours(1))));
            }
            assertThat(broker.handle().destroy()).isTrue();
            broker.handle().onExit().join();
        }
        assertThat(Files.readString(kept.resolve("log/farm.0.log")))
                .contains("INFO Ends; its folder keeps 1 in kiln.jobs, 0 in kiln.answers, 0 in kiln.dead");
    }

    /** What the site has must not end a service before it ends itself. */
    @ParameterizedTest
    @CsvSource({"kiln-worker, 45", "kiln-farm, 20"})
    void units_wait_longer_than_programs_need(String unit, int seconds) throws IOException {
        Path file = Path.of("src", "site", "resources", "farm", unit + ".service");
        assertThat(Files.readAllLines(file))
                .filteredOn(line -> line.startsWith("TimeoutStopSec="))
                .singleElement()
                .satisfies(line -> assertThat(Integer.parseInt(line.substring(line.indexOf('=') + 1)))
                        .isGreaterThanOrEqualTo(seconds + 10));
    }

    @Test
    void figures_are_not_for_everybody() {
        FarmAddress here = FarmAddress.parse("tcp://localhost:0", MEMBER);
        for (String url :
                List.of("http://0.0.0.0:9", "http://lab.example:9", "https://lab.example:9", "tcp://localhost")) {
            assertThatThrownBy(() -> StatusServer.address(url, here))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("refused: the farm's state for everybody");
        }
    }
}
