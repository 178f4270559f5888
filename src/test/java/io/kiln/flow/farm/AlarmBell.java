// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.RunningProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Prometheus, which reads a farm's figures and has the alarm rules that are on the site. */
final class AlarmBell implements AutoCloseable {
    /** The rules. */
    static final Path RULES = Path.of("src", "site", "resources", "farm", "alarms.yaml");

    private final RunningProcess process;
    private final int port;

    private AlarmBell(RunningProcess process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts one; empty if Prometheus is not installed. */
    static Optional<AlarmBell> start(Path folder, int figures) throws IOException {
        if (Executables.find("prometheus").isEmpty()) {
            return Optional.empty();
        }
        Files.createDirectories(folder);
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Path configuration = Files.writeString(
                folder.resolve("prometheus.yml"), String.format(Locale.ROOT, """
                    global:
                      scrape_interval: 5s
                      evaluation_interval: 2s
                    rule_files: [%s]
                    scrape_configs:
                      - job_name: kiln-farm
                        static_configs:
                          - targets: ['localhost:%d']
                    """, RULES.toAbsolutePath(), figures));
        RunningProcess process = ProcessRunner.start(Command.of(
                        "setpriv",
                        // It does not outlive a soak that is killed.
                        "--pdeathsig",
                        "KILL",
                        "prometheus",
                        "--config.file=" + configuration,
                        "--storage.tsdb.path=" + folder.resolve("kept"),
                        "--web.listen-address=127.0.0.1:" + port)
                .within(Duration.ofHours(4)));
        return Optional.of(new AlarmBell(process, port));
    }

    /** The names of all alarms that have fired so far. */
    Set<String> fired() throws IOException {
        URI question = URI.create(
                "http://127.0.0.1:" + port + "/api/v1/query?query=ALERTS%7Balertstate%3D%22firing%22%7D%5B4h%5D");
        Set<String> names = new TreeSet<>();
        try (InputStream answer = question.toURL().openStream()) {
            JsonNode found = new ObjectMapper().readTree(answer);
            if (!found.path("status").asText().equals("success")) {
                throw new IOException("Prometheus says " + found);
            }
            found.at("/data/result")
                    .forEach(series -> names.add(series.at("/metric/alertname").asText()));
        }
        return names;
    }

    /** What Prometheus said, for people. */
    List<String> said() {
        return process.errors().lines().toList();
    }

    @Override
    public void close() {
        process.close();
    }
}
