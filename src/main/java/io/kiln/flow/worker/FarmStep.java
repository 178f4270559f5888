// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Failure;
import io.kiln.base.JvmEnd;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.desk.FarmDesk;
import io.kiln.farm.desk.FarmEvent.FarmEvents;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmAddress.FarmStores;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmLink.FarmLost;
import io.kiln.farm.link.FarmMessage.FarmOrder;
import io.kiln.farm.state.FarmKeeper;
import io.kiln.farm.state.FarmState;
import io.kiln.farm.state.FarmState.FarmQuestion;
import io.kiln.farm.state.FarmState.FarmText;
import io.kiln.farm.watch.RotatingLog;
import io.kiln.farm.watch.StatusServer;
import io.kiln.farm.watch.StatusServer.FarmFigures;
import io.kiln.flow.state.PluginVersion;
import io.kiln.pages.JtefarmGenerated;
import io.kiln.report.Json;
import io.kiln.report.page.Page;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A farm for people: starts its broker or keeps company with one of another make, or shows its state.
 *
 * @param reports folder of {@code farm.json} and {@code farm.html}
 */
public record FarmStep(Log log, Path reports) {
    private static final String JSON = "farm.json";
    private static final String PAGE = "farm.html";
    /** After how many times the time between two states the last one is too old. */
    private static final long LATE = 3;

    private static final Duration LONGEST_END = Duration.ofSeconds(20);

    /**
     * Shows the state of a farm once.
     *
     * @param order what the farm has to do before
     * @param unit what that is about, {@code WORKER} or {@code WORKER/PROBE}; empty for nothing
     */
    public void show(FarmAddress farm, FarmOrder order, String unit) {
        FarmState state = FarmQuestion.ask(farm, order, unit, "by hand");
        FarmText.lines(state).forEach(log::answer);
        write(state, 0);
        log.info("The same as a page: " + reports.resolve(PAGE));
    }

    private void write(FarmState state, int refresh) {
        Json.write(reports.resolve(JSON), state);
        WholeFiles.write(reports.resolve(PAGE), page(state, refresh));
    }

    private static String page(FarmState state, int refresh) {
        return Page.of((out, html) -> JtefarmGenerated.render(out, html, state, refresh));
    }

    /**
     * How a broker runs.
     *
     * @param address where it listens, or of a broker of another make
     * @param folder its queues and logs
     * @param refresh seconds between two states of the page, 1 or more
     * @param status where programs read figures; empty for nowhere
     */
    public record Serving(FarmAddress address, Path folder, int refresh, Optional<FarmAddress> status) {}

    /**
     * Starts a broker, and keeps the page about its farm up to date until this process is ended. A page that cannot be written ends nothing.
     *
     * @throws KilnException if the address is not safe or not free, or another broker has the folder
     */
    public void serve(Serving how) {
        if (how.refresh() < 1) {
            throw Failure.FARM.exception("kiln.farm.refresh is " + how.refresh(), "", "1 or more");
        }
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        Thread hook = new Thread(() -> end(end, closed), "farm-end");
        Path logs = how.folder().resolve("log");
        try (RotatingLog kept = RotatingLog.open(log, logs, "farm")) {
            FarmFigures figures = new FarmFigures(how.address().access().keys().flatMap(FarmStores::end));
            FarmEvents events = FarmEvents.to(kept).and(figures);
            try (Served served =
                    how.address().isForeign() ? Served.outside(how, kept, events) : Served.here(how, kept, events)) {
                String url = served.address().url();
                kept.info("Farm " + url + ", " + served.place() + ", logs in " + logs);
                log.info("Workers: mvn kiln:worker -Dkiln.farm=" + url);
                log.info("State: " + reports.resolve(PAGE) + "; Ctrl-C ends " + served.what());
                Runtime.getRuntime().addShutdownHook(hook);
                new Showing(how, served, figures, kept).until(end);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            closed.countDown();
            JvmEnd.remove(hook);
        }
    }

    /**
     * A farm that is kept.
     *
     * @param broker the embedded one; empty if another program is the broker
     * @param keeper of the farm
     * @param address of the broker
     * @param place of its queues
     */
    private record Served(Optional<FarmBroker> broker, FarmKeeper keeper, FarmAddress address, String place)
            implements AutoCloseable {
        static Served here(Serving how, Log log, FarmEvents events) {
            FarmBroker broker = FarmBroker.start(how.folder(), how.address(), log, events);
            FarmKeeper keeper = new FarmKeeper(
                    broker::link, broker.desk(), broker.address().url(), PluginVersion.released(), Clock.systemUTC());
            return new Served(Optional.of(broker), keeper.start(), broker.address(), "queues in " + how.folder());
        }

        /** Connects once, so that what is wrong with the broker is told at once; one that is just not there is waited for. */
        static Served outside(Serving how, Log log, FarmEvents events) {
            try {
                FarmLink.open(how.address()).close();
            } catch (FarmLost e) {
                if (!e.isAbsent()) {
                    throw e;
                }
                log.warn(e.getMessage() + " Waiting for it");
            }
            FarmDesk desk = new FarmDesk(how.folder(), Clock.systemUTC(), events);
            FarmKeeper keeper = FarmKeeper.outside(how.address(), desk, PluginVersion.released(), Clock.systemUTC());
            return new Served(Optional.empty(), keeper.start(), how.address(), "a broker of another make");
        }

        /**
         * Whoever started this process can start it again, but does not know that the engine in it has ended.
         *
         * @throws KilnException if the embedded broker has ended by itself
         */
        void requireRunning() {
            if (broker.filter(own -> !own.isActive()).isPresent()) {
                throw Failure.FARM.exception(
                        "the broker has ended by itself, it cannot keep its queues: "
                                + broker.flatMap(FarmBroker::fault).orElse("it does not say why"),
                        place,
                        "a disk with room that can be written",
                        "Start it again; what it had acknowledged is there");
            }
        }

        String what() {
            return broker.isPresent()
                    ? "the broker, its queues stay"
                    : "this goal; the broker goes on, but nobody tells builds of jobs that killed their workers";
        }

        List<String> troubles() {
            List<String> troubles = new ArrayList<>();
            broker.ifPresent(engine -> {
                if (!engine.isActive()) {
                    troubles.add("the broker does not serve");
                }
                engine.fullDisk().ifPresent(troubles::add);
            });
            return troubles;
        }

        @Override
        public void close() {
            keeper.close();
            broker.ifPresent(FarmBroker::close);
        }
    }

    /** What operators see of a running broker. */
    private final class Showing {
        private final Serving how;
        private final Served served;
        private final FarmFigures figures;
        private final Log kept;
        private final AtomicReference<Optional<FarmState>> last = new AtomicReference<>(Optional.empty());
        private boolean isTold;

        Showing(Serving how, Served served, FarmFigures figures, Log kept) {
            this.how = how;
            this.served = served;
            this.figures = figures;
            this.kept = kept;
        }

        void until(CountDownLatch end) throws InterruptedException {
            Optional<StatusServer> status = how.status().map(this::status);
            try {
                do {
                    show();
                    figures.troubles(troubles().size());
                    served.requireRunning();
                } while (!end.await(how.refresh(), TimeUnit.SECONDS));
                show();
                last.get()
                        .map(FarmText::queues)
                        .filter(text -> !text.isEmpty())
                        .ifPresent(text -> kept.info("Ends; its folder keeps " + text));
            } finally {
                status.ifPresent(StatusServer::close);
            }
        }

        private StatusServer status(FarmAddress where) {
            StatusServer server = StatusServer.start(
                    where,
                    new StatusServer.Content(
                            figures,
                            this::troubles,
                            () -> last.get().map(Json::text).orElse("{}"),
                            () -> last.get()
                                    .map(state -> page(state, how.refresh()))
                                    .orElse("")));
            kept.info("Figures: " + server.url() + "/metrics, " + server.url() + "/health");
            return server;
        }

        /** Shows the state. Whatever goes wrong with it is told once, and tried again. */
        private void show() {
            try {
                FarmState state = served.keeper().state();
                last.set(Optional.of(state));
                figures.read(state);
                write(state, how.refresh());
                isTold = false;
            } catch (RuntimeException e) {
                if (!isTold) {
                    isTold = true;
                    kept.warn("The farm goes on, but its state cannot be shown: " + e.getMessage());
                }
            }
        }

        private List<String> troubles() {
            List<String> troubles = new ArrayList<>(served.troubles());
            Instant then = last.get().map(state -> Instant.parse(state.time())).orElse(Instant.EPOCH);
            if (then.plusSeconds(LATE * how.refresh() + 1).isBefore(Instant.now())) {
                troubles.add("the state is of " + then);
            }
            return troubles;
        }
    }

    /** Ends the broker, and waits for that: the JVM must not end before the broker did. */
    private void end(CountDownLatch end, CountDownLatch closed) {
        end.countDown();
        try {
            if (!closed.await(LONGEST_END.toSeconds(), TimeUnit.SECONDS)) {
                log.warn("The broker does not end; its queues are repaired when it is started again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
