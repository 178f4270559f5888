// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.watch;

import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.desk.FarmEvents;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.state.FarmState;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** The figures of a farm in Prometheus' form: counts of what happened, and gauges of the last state. Thread-safe. */
public final class FarmFigures implements FarmEvents {
    private static final double[] SECONDS = {0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600};
    private static final String NONE = "none";
    private static final String READY = "ready";
    private static final int MOST_VERSIONS = 20;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Set<String> versions = ConcurrentHashMap.newKeySet();
    private final Counter events = Counter.builder()
            .name("kiln_farm_events_total")
            .help("What happened, by kind")
            .labelNames("event")
            .register(registry);
    private final Counter jobs = Counter.builder()
            .name("kiln_farm_jobs_total")
            .help("Jobs that ended, by kind of task, place and result")
            .labelNames("kind", "place", "result")
            .register(registry);
    private final Histogram runs = histogram("kiln_farm_job_seconds", "How long workers had jobs that they answered");
    private final Histogram waits =
            histogram("kiln_farm_wait_seconds", "How long jobs waited before a worker took them");
    private final Gauge queues = gauge("kiln_farm_queue_messages", "Messages in a queue", "queue");
    private final Gauge oldest = gauge("kiln_farm_oldest_job_seconds", "How long the oldest job has been waiting");
    private final Gauge workers = gauge("kiln_farm_workers", "Workers that were heard of lately", "version");
    private final Gauge boards = gauge("kiln_farm_boards", "Boards that are plugged in", "state");
    private final Gauge running = gauge("kiln_farm_running_jobs", "Jobs that workers say they run", "place");
    private final Gauge held = gauge("kiln_farm_held", "Workers and boards that get no jobs", "why");
    private final Gauge troubles = gauge("kiln_farm_troubles", "How many things are wrong, as /health tells them");
    private final Gauge told = gauge("kiln_farm_state_timestamp_seconds", "When these gauges were read");

    /**
     * @param certificateEnd when the broker's certificate expires; empty without TLS
     */
    public FarmFigures(Optional<Instant> certificateEnd) {
        JvmMetrics.builder().register(registry);
        certificateEnd.ifPresent(
                end -> gauge("kiln_farm_certificate_end_timestamp_seconds", "When the broker's certificate expires")
                        .set((double) end.getEpochSecond()));
        for (Kind kind : Kind.values()) {
            events.labelValues(kind.text()).inc(0);
        }
    }

    private Histogram histogram(String name, String help) {
        return Histogram.builder()
                .name(name)
                .help(help)
                .labelNames("kind")
                .classicOnly()
                .classicUpperBounds(SECONDS)
                .register(registry);
    }

    private Gauge gauge(String name, String help, String... labels) {
        return Gauge.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    @Override
    public void happened(FarmEvent event) {
        events.labelValues(event.kind().text()).inc();
        String kind = kind(event);
        switch (event.kind()) {
            case JOB_TAKEN -> waits.labelValues(kind).observe(Double.parseDouble(event.field("waited")));
            case JOB_ANSWERED -> {
                runs.labelValues(kind).observe(Double.parseDouble(event.field("seconds")));
                ended(event, event.field("result").toLowerCase(Locale.ROOT));
            }
            case JOB_GIVEN_UP, JOB_EXPIRED, JOB_WITHDRAWN ->
                ended(event, event.kind().text().substring("job_".length()));
            default -> {
                return;
            }
        }
    }

    /** Only known kinds become labels: a member could send any number of others. */
    private static String kind(FarmEvent event) {
        String kind = event.field("kind");
        return switch (kind) {
            case "run", "count", "profile", "trace", "listen", "time", "flash" -> kind;
            default -> NONE;
        };
    }

    private void ended(FarmEvent event, String result) {
        String known = result.matches("done|none|given_up|expired|withdrawn|failed-[a-z]{1,12}") ? result : NONE;
        jobs.labelValues(kind(event), place(event.field("place")), known).inc();
    }

    private static String place(String text) {
        return text.equals("board") ? text : "emulator";
    }

    /** The first few versions: whoever keeps figures keeps each label that there ever was. */
    private String version(String text) {
        String plain = FarmMember.plain(text);
        return versions.contains(plain) || (versions.size() < MOST_VERSIONS && versions.add(plain)) ? plain : "other";
    }

    /** Takes the gauges from a state. */
    public void read(FarmState state) {
        state.queues().forEach(queue -> queues.labelValues(queue.name()).set((double) queue.messages()));
        oldest.set((double) state.desk().oldestSeconds());
        set(
                workers,
                state.workers().stream()
                        .collect(Collectors.groupingBy(
                                seen -> version(seen.news().about().version()), Collectors.counting())));
        set(
                boards,
                state.workers().stream()
                        .flatMap(seen -> seen.news().offers().stream())
                        .filter(offer -> !offer.probe().isEmpty())
                        .collect(Collectors.groupingBy(
                                offer -> offer.state().equals(READY) ? READY : "leased elsewhere",
                                Collectors.counting())));
        set(
                running,
                state.workers().stream()
                        .flatMap(seen -> seen.news().running().stream())
                        .collect(Collectors.groupingBy(job -> place(job.place()), Collectors.counting())));
        set(
                held,
                state.desk().held().stream()
                        .collect(Collectors.groupingBy(
                                hold -> hold.isQuarantine() ? "quarantine" : "maintenance", Collectors.counting())));
        told.set((double) Instant.parse(state.time()).getEpochSecond());
    }

    /** Says how many things are wrong. */
    public void troubles(int count) {
        troubles.set(count);
    }

    private static void set(Gauge gauge, Map<String, Long> values) {
        gauge.clear();
        values.forEach((label, count) -> gauge.labelValues(label).set((double) count));
    }

    void write(OutputStream out) throws IOException {
        PrometheusTextFormatWriter.create().write(out, registry.scrape());
    }
}
