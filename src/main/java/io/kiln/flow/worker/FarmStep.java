// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.worker;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.farm.broker.FarmBroker;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.state.FarmKeeper;
import io.kiln.farm.state.FarmQuestion;
import io.kiln.farm.state.FarmState;
import io.kiln.farm.state.FarmText;
import io.kiln.pages.JtefarmGenerated;
import io.kiln.report.Json;
import io.kiln.report.page.Page;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A farm for people: starts its broker, or shows its state. */
public final class FarmStep {
    private static final String JSON = "farm.json";
    private static final String PAGE = "farm.html";
    private static final Duration LONGEST_END = Duration.ofSeconds(20);

    private final Log log;
    private final Path reports;

    /** @param reports folder of {@code farm.json} and {@code farm.html} */
    public FarmStep(Log log, Path reports) {
        this.log = log;
        this.reports = reports;
    }

    /** Shows the state of a farm once. */
    public void show(FarmAddress farm) {
        FarmState state = FarmQuestion.ask(farm);
        write(state, 0);
        FarmText.lines(state).forEach(log::answer);
        log.info("The same as a page: " + reports.resolve(PAGE));
    }

    private void write(FarmState state, int refresh) {
        Json.write(reports.resolve(JSON), state);
        WholeFiles.write(
                reports.resolve(PAGE), Page.of((out, html) -> JtefarmGenerated.render(out, html, state, refresh)));
    }

    /**
     * Starts a broker, and keeps the page about its farm up to date until this process is ended.
     *
     * @param folder its queues
     * @param refresh seconds between two states of the page, 1 or more
     * @throws KilnException if the address is not safe or not free, or another broker has the folder
     */
    public void serve(FarmAddress address, Path folder, int refresh) {
        if (refresh < 1) {
            throw new KilnException(Failure.FARM.problem("kiln.farm.refresh is " + refresh, "", "1 or more", ""));
        }
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        try (FarmBroker broker = FarmBroker.start(folder, address, log);
                FarmKeeper keeper =
                        new FarmKeeper(broker::link, broker.address().url(), Clock.systemUTC()).start()) {
            log.info("Farm " + broker.address().url() + ", queues in " + folder);
            log.info("Workers: mvn kiln:worker -Dkiln.farm=" + broker.address().url());
            log.info("State: " + reports.resolve(PAGE) + "; Ctrl-C ends the broker, its queues stay");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(end, closed), "farm-end"));
            do {
                write(keeper.state(), refresh);
            } while (!end.await(refresh, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            closed.countDown();
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
