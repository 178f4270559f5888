// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.JvmEnd;
import io.kiln.base.Log;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.flash.Probe;
import io.kiln.report.FlashReport;
import io.kiln.report.FlashReport.Entry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The entries of one run in {@code flash.json}: written as {@code started}, and replaced one by one as devices finish.
 * When a build is stopped, the remaining entries become {@code interrupted}; if the JVM is killed, they stay {@code
 * started}. The shared log gets a line when a device is finished or interrupted.
 */
final class FlashRecord implements AutoCloseable {
    private static final String STARTED = "started";
    private static final String INTERRUPTED = "interrupted";

    private final Path file;
    private final Optional<Path> shared;
    private final long start = System.nanoTime();
    private final Map<Probe, Entry> open = new LinkedHashMap<>();
    private final Thread hook = new Thread(this::interrupt, "flash-record");

    private final FlashFailure interrupted;

    private FlashRecord(Path file, Optional<Path> shared, FlashFailure interrupted) {
        this.file = file;
        this.shared = shared;
        this.interrupted = interrupted;
    }

    /**
     * Writes the initial entries.
     *
     * @param file {@code flash.json}
     * @param shared log that several builds may share
     * @param entry template to which probe, time and result are added
     * @param interrupted the problem recorded for devices that are not finished when the build ends
     * @param log gets a warning if the file was unreadable and was started anew
     */
    static FlashRecord begin(
            Path file, Optional<Path> shared, Entry entry, FlashFailure interrupted, List<Probe> probes, Log log) {
        FlashRecord record = new FlashRecord(file, shared, interrupted);
        for (Probe probe : probes) {
            String name = probe instanceof Probe.Any ? null : probe.text();
            record.open.put(probe, entry.of(name).ended(0, STARTED, null));
        }
        FlashReport.append(file, new ArrayList<>(record.open.values()))
                .ifPresent(
                        kept -> log.warn("flash.json could not be read and was started anew; the old file is " + kept));
        Runtime.getRuntime().addShutdownHook(record.hook);
        return record;
    }

    /** Records the result of one device. */
    synchronized void done(FlashResult result) {
        String failure =
                result.failure().map(f -> f.kind().id() + ": " + f.text()).orElse(null);
        end(result.probe(), result.elapsed().toMillis() / 1000.0, result.verdict(), failure);
    }

    /** Marks all unfinished devices as interrupted, after an error or at the end of the JVM. */
    synchronized void interrupt() {
        double seconds = Duration.ofNanos(System.nanoTime() - start).toMillis() / 1000.0;
        List.copyOf(open.keySet())
                .forEach(probe ->
                        end(probe, seconds, INTERRUPTED, interrupted.kind().id() + ": " + interrupted.text()));
    }

    private void end(Probe probe, double seconds, String result, String failure) {
        Entry started = open.remove(probe);
        if (started != null) {
            Entry ended = started.ended(seconds, result, failure);
            FlashReport.replace(file, started, ended);
            shared.ifPresent(log -> FlashReport.share(log, List.of(ended)));
        }
    }

    @Override
    public void close() {
        interrupt();
        JvmEnd.remove(hook);
    }
}
