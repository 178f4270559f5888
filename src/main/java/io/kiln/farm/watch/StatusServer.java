// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.watch;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.farm.desk.FarmEvent;
import io.kiln.farm.desk.FarmEvent.FarmEvents;
import io.kiln.farm.desk.FarmEvent.Kind;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmStores;
import io.kiln.farm.link.FarmAddress.FarmStores.PeerCertificate;
import io.kiln.farm.link.FarmMember;
import io.kiln.farm.state.FarmState;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * Tells programs of this computer, or members of the farm, how the farm is: {@code /metrics} in Prometheus' form, {@code /health}, {@code /farm.json},
 * and the page about it. It answers to nothing else, and changes nothing.
 */
public final class StatusServer implements AutoCloseable {
    private static final Set<String> HERE = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final int THREADS = 16;

    /** How long somebody may take to ask and to read the answer; a thread waits for each. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int NOT_WELL = 503;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS, work -> {
        Thread thread = new Thread(work, "farm-status");
        thread.setDaemon(true);
        return thread;
    });
    private final ScheduledExecutorService ends = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "farm-status-end");
        thread.setDaemon(true);
        return thread;
    });
    private final FarmAddress address;

    /**
     * What it tells.
     *
     * @param figures for {@code /metrics}
     * @param troubles for {@code /health}; empty if the farm is well
     * @param json for {@code /farm.json}
     * @param page for the rest
     */
    public record Content(
            FarmFigures figures, Supplier<List<String>> troubles, Supplier<String> json, Supplier<String> page) {}

    private StatusServer(HttpServer server, FarmAddress address) {
        this.server = server;
        this.address = address;
    }

    /**
     * Reads where to listen.
     *
     * @param url {@code http://localhost:PORT}, or {@code https://HOST:PORT} for other computers, whose programs then need certificates that the farm
     *     trusts
     * @param farm has the stores
     * @throws KilnException if it is something else, or would let everybody in
     */
    public static FarmAddress address(String url, FarmAddress farm) {
        boolean isEncrypted = url.startsWith("https://");
        FarmAddress address = FarmAddress.parse(
                url.replaceFirst("^http://", "tcp://").replaceFirst("^https://", "tls://"), farm.access());
        if (isEncrypted
                ? farm.access().keys().isEmpty() || farm.access().trust().isEmpty()
                : !address.isLoopback() || !url.startsWith("http://")) {
            throw Failure.FARM.exception(
                    "refused: the farm's state for everybody",
                    "kiln.farm.status " + url,
                    "http://localhost:PORT, or https://HOST:PORT with kiln.farm.keyStore and kiln.farm.trustStore");
        }
        return address;
    }

    /**
     * Starts to answer.
     *
     * @throws KilnException if the port is not free
     */
    public static StatusServer start(FarmAddress address, Content content) {
        return start(address, content, PATIENCE);
    }

    static StatusServer start(FarmAddress address, Content content, Duration patience) {
        try {
            InetSocketAddress place = new InetSocketAddress(address.bareHost(), address.port());
            HttpServer server = address.isEncrypted() ? encrypted(place, address) : HttpServer.create(place, 0);
            StatusServer status =
                    new StatusServer(server, address.at(server.getAddress().getPort()));
            server.setExecutor(work -> status.threads.execute(() -> status.run(work, patience)));
            server.createContext("/", exchange -> status.answer(exchange, content));
            server.start();
            return status;
        } catch (IOException | GeneralSecurityException e) {
            throw new KilnException(
                    Failure.FARM.problem(
                            "the farm's state cannot be served: " + e.getMessage(), "kiln.farm.status", "a free port"),
                    e);
        }
    }

    private static HttpServer encrypted(InetSocketAddress place, FarmAddress address)
            throws IOException, GeneralSecurityException {
        SSLContext context = FarmStores.context(address.access());
        HttpsServer server = HttpsServer.create(place, 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context) {
            @Override
            public void configure(HttpsParameters parameters) {
                SSLParameters wanted = context.getDefaultSSLParameters();
                wanted.setNeedClientAuth(true);
                wanted.setProtocols(new String[] {"TLSv1.3"});
                parameters.setSSLParameters(wanted);
            }
        });
        return server;
    }

    /** Serves a connection. An interrupt closes it, whatever it is waited for: the rest of a question, a handshake, the reader. */
    private void run(Runnable work, Duration patience) {
        ScheduledFuture<?> end =
                ends.schedule(Thread.currentThread()::interrupt, patience.toMillis(), TimeUnit.MILLISECONDS);
        try {
            work.run();
        } finally {
            end.cancel(false);
        }
    }

    /** Where it answers. */
    public URI url() {
        return URI.create((address.isEncrypted() ? "https://" : "http://") + address.host() + ":" + address.port());
    }

    private void answer(HttpExchange exchange, Content content) throws IOException {
        try (exchange) {
            if (!isAdmitted(exchange)) {
                send(exchange, FORBIDDEN, "text/plain", bytes("Not for you\n"));
                return;
            }
            switch (exchange.getRequestURI().getPath()) {
                case "/metrics" -> {
                    ByteArrayOutputStream figures = new ByteArrayOutputStream();
                    content.figures().write(figures);
                    send(exchange, OK, "text/plain; version=0.0.4", figures.toByteArray());
                }
                case "/health" -> {
                    List<String> troubles = content.troubles().get();
                    String text = troubles.isEmpty() ? "well" : String.join("\n", troubles);
                    send(exchange, troubles.isEmpty() ? OK : NOT_WELL, "text/plain", bytes(text + "\n"));
                }
                case "/farm.json" ->
                    send(exchange, OK, "application/json", bytes(content.json().get()));
                case "/", "/farm.html" ->
                    send(exchange, OK, "text/html", bytes(content.page().get()));
                default ->
                    send(exchange, NOT_FOUND, "text/plain", bytes("There is /metrics, /health, /farm.json and /\n"));
            }
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Without TLS, a page of somebody else may have a browser ask by a name that leads here; it has another name than this computer's own. With TLS,
     * a certificate has to be valid today even if it is trusted itself.
     */
    private static boolean isAdmitted(HttpExchange exchange) {
        String method = exchange.getRequestMethod();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            return false;
        }
        if (exchange instanceof HttpsExchange encrypted) {
            return PeerCertificate.trouble(encrypted.getSSLSession(), Instant.now())
                    .isEmpty();
        }
        String host = String.valueOf(exchange.getRequestHeaders().getFirst("Host"));
        return HERE.contains(host.replaceFirst(":[0-9]+$", ""));
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] content) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type + (type.contains(";") ? "" : "; charset=utf-8"));
        exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
        boolean isHead = exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, isHead ? -1 : content.length);
        if (!isHead) {
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(content);
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        ends.shutdownNow();
    }

    /** The figures of a farm in Prometheus' form: counts of what happened, and gauges of the last state. Thread-safe. */
    public static final class FarmFigures implements FarmEvents {
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
        private final Histogram runs =
                histogram("kiln_farm_job_seconds", "How long workers had jobs that they answered");
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
            return versions.contains(plain) || (versions.size() < MOST_VERSIONS && versions.add(plain))
                    ? plain
                    : "other";
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
                                    hold -> hold.isQuarantine() ? "quarantine" : "maintenance",
                                    Collectors.counting())));
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
}
