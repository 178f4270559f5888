// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.farm;

import io.kiln.base.KilnException;
import io.kiln.farm.QpidBrokerProgram;
import io.kiln.farm.link.FarmAddress;
import io.kiln.farm.link.FarmLink;
import io.kiln.farm.link.FarmQueues;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The broker of a soak: Kiln's own, or Qpid Broker-J with {@code kiln:farm} beside it. Both are started again when they end, as systemd does. */
final class SoakBroker implements AutoCloseable {
    private static final int HEAP = 512;
    private static final int MOST_STARTS = 60;

    private final SoakPlace place;
    private final int figures;
    private Optional<QpidBrokerProgram> foreign = Optional.empty();
    private BrokerProgram farm;
    private int kills;

    SoakBroker(SoakPlace place, boolean isForeign) throws IOException {
        this.place = place;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            this.figures = free.getLocalPort();
        }
        String keys = place.keyFolder();
        if (isForeign) {
            String url = "amqps://" + place.host() + ":";
            foreign = Optional.of(QpidBrokerProgram.start(
                    place.on(false),
                    place.disk().resolve("broker"),
                    SoakPlace.store(keys, "broker"),
                    QpidBrokerProgram.address("amqp://localhost:", BenchWorkerProgram.MEMBER),
                    QpidBrokerProgram.address(url, SoakPlace.access(url, keys, "member"))));
        }
        this.farm = first(foreign.map(broker -> broker.encrypted().url()).orElse("tls://" + place.host() + ":0"));
    }

    private BrokerProgram fork(String url) {
        return BrokerProgram.fork(place.on(false), url, place.disk().resolve("farm"), place.keyFolder(), figures, HEAP);
    }

    /** A broker of another make on a busy computer may not speak TLS yet when its port is open. */
    private BrokerProgram first(String url) {
        for (int i = 0; ; i++) {
            try {
                return fork(url);
            } catch (IllegalStateException e) {
                if (foreign.isEmpty() || i == MOST_STARTS) {
                    throw e;
                }
                FarmSoakTest.pause();
            }
        }
    }

    boolean isForeign() {
        return foreign.isPresent();
    }

    FarmAddress address() {
        return farm.address();
    }

    /** Port of its figures, always the same. */
    int figures() {
        return figures;
    }

    String told(String path) throws IOException {
        return farm.told(path);
    }

    /** Kills the broker and starts it again; of two programs, one after the other. */
    void kill() {
        kills++;
        if (foreign.isPresent() && kills % 2 == 1) {
            foreign.get().kill();
        } else {
            farm.close();
        }
        keepAlive();
    }

    private boolean isAlive() {
        return farm.isAlive()
                && foreign.map(broker -> broker.process().isAlive()).orElse(true);
    }

    /**
     * Starts again what has ended, with one attempt.
     *
     * @return whether something had
     */
    boolean startAgain() {
        if (isAlive()) {
            return false;
        }
        try {
            if (foreign.filter(broker -> !broker.process().isAlive()).isPresent()) {
                foreign = Optional.of(foreign.orElseThrow().again());
            }
            if (!farm.isAlive()) {
                String url = farm.address().url();
                if (!farm.said().isEmpty()) {
                    FarmSoakTest.say("It ended: " + farm.said());
                }
                farm.close();
                farm = fork(url);
            }
        } catch (IOException | IllegalStateException e) {
            FarmSoakTest.say(
                    "It does not start: " + e.getMessage().lines().findFirst().orElse(""));
        }
        return true;
    }

    /**
     * Starts again what has ended, until it lives.
     *
     * @return whether something had
     */
    boolean keepAlive() {
        boolean hasEnded = false;
        for (int i = 0; i < MOST_STARTS && !isAlive(); i++) {
            if (hasEnded) {
                FarmSoakTest.pause();
            }
            hasEnded |= startAgain();
        }
        if (!isAlive()) {
            throw new IllegalStateException("the broker does not start again");
        }
        return hasEnded;
    }

    /**
     * Waits until the broker serves. Kiln's own does, or ends, by itself; one of another make that lives and serves nobody is started again, as its owner
     * does who sees it.
     *
     * @return whether it had to be started
     */
    boolean mend() {
        boolean hasEnded = false;
        for (int i = 0; i < MOST_STARTS; i++) {
            try {
                hasEnded |= keepAlive();
                FarmLink.open(address()).close();
                return hasEnded;
            } catch (KilnException e) {
                FarmSoakTest.say("The broker serves nobody: " + e.getMessage());
                foreign.ifPresentOrElse(QpidBrokerProgram::kill, FarmSoakTest::pause);
            }
        }
        throw new IllegalStateException("the broker serves nobody");
    }

    /** How often an event is in the log, which survives the broker; without what it could not write to a full disk. */
    long logged(String event) throws IOException {
        try (Stream<Path> logs = Files.list(place.disk().resolve("farm").resolve("log"))) {
            long count = 0;
            for (Path log :
                    logs.filter(file -> file.toString().endsWith(".log")).toList()) {
                count += Files.readAllLines(log).stream()
                        .filter(line -> line.contains(" event=" + event + " "))
                        .count();
            }
            return count;
        }
    }

    /** Whether no message waits. */
    boolean isEmpty() throws IOException {
        if (!isForeign()) {
            List<String> queues = SoakPlace.parsed(told("/metrics")).stream()
                    .filter(line -> line.startsWith("kiln_farm_queue_messages "))
                    .toList();
            return queues.size() == 3 && queues.stream().allMatch(line -> line.endsWith(" 0.0"));
        }
        try (FarmLink link = FarmLink.open(address())) {
            return Stream.of(FarmQueues.JOBS, FarmQueues.ANSWERS, FarmQueues.DEAD)
                    .allMatch(queue -> link.browse(queue, 1).isEmpty());
        }
    }

    @Override
    public void close() {
        farm.close();
        foreign.ifPresent(QpidBrokerProgram::close);
    }
}
