// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.JvmEnd;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Parallel;
import io.kiln.base.Problems;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashFailure.FlashFailed;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.flash.FlashRunner.Range;
import io.kiln.device.flash.Probe;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.firmware.update.ModelRegion;
import io.kiln.firmware.update.ModelRegion.DeviceModels;
import io.kiln.firmware.update.ModelRegion.DeviceModels.UpdateFile;
import io.kiln.firmware.update.ModelRegion.InstalledFirmware;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.device.Leases.BoardUse;
import io.kiln.flow.farm.FarmRuns.FarmFlashRunner;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec.Content.Part;
import io.kiln.report.FlashReport;
import io.kiln.report.FlashReport.Entry;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.ModelSlots;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Supplier;

/** Writes the image to one or several devices at once, verifies it by reading it back, and keeps a record. */
public record FlashStep(Log log, ResolvedBuild build, FlashSpec spec) {
    private static final int MOST_AT_ONCE = 16;

    /**
     * Flashes the build's image; for a board without a flash runner it logs one line and succeeds.
     *
     * @throws KilnException if any device does not hold the image afterwards, with the kind and remedy of each failure
     */
    public void run() {
        Board board = build.board();
        if (!FlashRunners.areFor(board) && spec.runner().isEmpty()) {
            log.info("Nothing to flash: the board " + board.id() + " has no flash runner (flash in its board.yaml)");
            return;
        }
        flash(
                image(build),
                () -> build.spec()
                        .farm()
                        .map(use -> (FlashRunner) new FarmFlashRunner(board, spec.limit(), image(build), use, log))
                        .orElseGet(() -> new FlashRunners(log, BoardUse.of(build), spec).open()));
    }

    /** The file that is flashed: the image, or the archive of which a Project API server makes one. */
    public static Path image(ResolvedBuild build) {
        return build.board().projectApi().isPresent()
                ? GenerateStep.archive(build.spec().layout())
                : build.spec().layout().image("elf");
    }

    /**
     * Flashes the build's image, as {@link #run} does, unless it is for the bench only.
     *
     * @throws KilnException also if the image holds an RPC server and nothing says that it may be deployed
     */
    public void deploy() {
        boolean isServer = build.spec().application() == Application.RPC;
        if (isServer && !spec.allowRpc() && FlashRunners.areFor(build.board())) {
            throw Failure.TRUST.exception(
                    "refused: deploying an image with an RPC server, through which whoever reaches its console runs"
                            + " its functions",
                    "kiln.application",
                    "an image for the field: kiln.application=console, or a main of your own",
                    "For the bench, call kiln:flash by hand or set kiln.flash.allowRpc");
        }
        run();
    }

    /**
     * Flashes an image, as {@link #run} does.
     *
     * @param open opens the devices, once the image is known to fit
     * @return the result of each device
     */
    public List<FlashResult> flash(Path elf, Supplier<FlashRunner> open) {
        if (spec.part() == Part.MODELS) {
            ModelFlash models = new ModelFlash(log, build, spec.preverify());
            Load load = new Load(ModelFlash.file(build), "the models of ", models.bytes(), models::flash);
            return flash(load, open);
        }
        boolean isWhole = spec.part() == Part.WHOLE;
        FlashImage image = isWhole ? BoardImage.read(build.board(), elf) : BoardImage.parameters(build.board(), elf);
        Load load = new Load(
                elf,
                isWhole ? "" : "the parameters of ",
                image.size(),
                (runner, probe, progress) -> runner.flash(probe, image, progress));
        return flash(load, open);
    }

    /**
     * Content that is written to each device.
     *
     * @param file where it comes from
     * @param part which part of it, for people
     * @param bytes its size
     * @param device writes it
     */
    private record Load(Path file, String part, long bytes, OneDevice device) {}

    /** Writes to one device. */
    @FunctionalInterface
    private interface OneDevice {
        FlashResult flash(FlashRunner runner, Probe probe, FlashProgress progress);
    }

    private List<FlashResult> flash(Load load, Supplier<FlashRunner> open) {
        try (FlashRunner runner = open.get()) {
            return flash(load, runner);
        }
    }

    private List<FlashResult> flash(Load load, FlashRunner runner) {
        int devices = runner.probes().size();
        log.info("Flashing " + load.part + load.file.getFileName() + " (" + load.bytes + " bytes) to "
                + build.board().id() + " with " + runner.tool() + (devices > 1 ? ", " + devices + " probes" : ""));
        List<FlashResult> results = recorded(load, runner);
        Problems problems = new Problems(Failure.FLASH);
        for (FlashResult result : results) {
            log(result, runner.verifies());
            result.failure()
                    .ifPresent(failure ->
                            problems.add(failure.problem(result.probe().text())));
        }
        problems.throwIfAny();
        return results;
    }

    /** Shows progress for a single device only. */
    private FlashProgress progress(int devices, long bytes) {
        if (devices > 1) {
            return FlashProgress.QUIET;
        }
        return spec.bar() ? new ProgressBar(System.out, bytes) : new ProgressLines(log, bytes);
    }

    private void log(FlashResult result, boolean isVerified) {
        String probe = result.probe().text();
        String seconds = String.format(Locale.ROOT, "%.1f s", result.elapsed().toMillis() / 1000.0);
        if (!result.succeeded()) {
            log.warn(probe + ": failed after " + seconds + ": "
                    + result.failure().get().text());
        } else if (result.unchanged()) {
            log.info(probe + ": holds this image already, verified " + result.bytes() + " bytes, started it in "
                    + seconds);
        } else {
            log.info(probe + (isVerified ? ": flashed and verified " : ": flashed, without reading it back, ")
                    + result.bytes() + " bytes in " + seconds);
        }
    }

    private List<FlashResult> recorded(Load load, FlashRunner runner) {
        FlashReport.Entry entry = new FlashReport.Entry(
                new FlashReport.Image(load.file.getFileName().toString(), Digests.sha256(load.file), load.bytes),
                spec.coordinates().orElse(null),
                build.board().id(),
                null,
                runner.tool(),
                Instant.now().truncatedTo(ChronoUnit.MILLIS).toString(),
                0,
                "",
                null);
        Path file = build.spec().layout().reports().resolve("flash.json");
        List<Probe> probes = runner.probes();
        // Models are written beside those that run, and beside the program.
        FlashFailure interrupted = FlashFailure.interrupted(spec.part() != Part.MODELS);
        try (FlashRecord record = FlashRecord.begin(file, spec.log(), entry, interrupted, probes, log)) {
            return inParallel(probes, log, interrupted, probe -> {
                FlashResult result = load.device.flash(runner, probe, progress(probes.size(), load.bytes));
                record.done(result);
                return result;
            });
        }
    }

    /** Progress as one terminal line that is overwritten, and removed at the end. */
    record ProgressBar(PrintStream terminal, long total) implements FlashProgress {
        private static final int WIDTH = 40;
        private static final String ERASE_LINE = "\r\u001b[K";

        @Override
        public void erasing() {
            show("erasing");
        }

        @Override
        public void written(long told) {
            long bytes = Math.min(told, total);
            int done = (int) (bytes * WIDTH / total);
            show("[" + "#".repeat(done) + ".".repeat(WIDTH - done) + "] " + bytes * 100 / total + " %  " + bytes
                    + " of " + total + " bytes");
            if (bytes >= total) {
                show("");
            }
        }

        @Override
        public void verifying() {
            show("");
        }

        private void show(String text) {
            terminal.print(ERASE_LINE + text);
            terminal.flush();
        }
    }

    /** Progress as a few lines, for log files. */
    private static final class ProgressLines implements FlashProgress {
        private static final int STEP_PERCENT = 25;

        private final Log log;
        private final long total;
        private long told;

        /** Shows progress towards a total number of bytes. */
        ProgressLines(Log log, long total) {
            this.log = log;
            this.total = total;
        }

        @Override
        public void erasing() {
            log.debug("erasing");
        }

        @Override
        public void written(long soFar) {
            long bytes = Math.min(soFar, total);
            long percent = bytes * 100 / total;
            if (percent >= told + STEP_PERCENT) {
                told = percent - percent % STEP_PERCENT;
                log.info("Wrote " + bytes + " of " + total + " bytes, " + percent + " %");
            }
        }

        @Override
        public void verifying() {
            log.debug("verifying");
        }
    }

    /**
     * The results, in the order of the probes.
     *
     * @param interrupted what to say if the build is stopped meanwhile
     */
    private static List<FlashResult> inParallel(
            List<Probe> probes, Log log, FlashFailure interrupted, Function<Probe, FlashResult> flash) {
        Thread farewell = new Thread(() -> log.warn(interrupted.text()), "flash-interrupted");
        Runtime.getRuntime().addShutdownHook(farewell);
        try {
            return probes.size() == 1
                    ? List.of(flash.apply(probes.get(0)))
                    : Parallel.map(
                            probes, Math.min(MOST_AT_ONCE, probes.size()), interrupted.problem("kiln:flash"), flash);
        } finally {
            JvmEnd.remove(farewell);
        }
    }

    /**
     * The entries of one run in {@code flash.json}: written as {@code started}, and replaced one by one as devices finish.
     * When a build is stopped, the remaining entries become {@code interrupted}; if the JVM is killed, they stay {@code
     * started}. The shared log gets a line when a device is finished or interrupted.
     */
    static final class FlashRecord implements AutoCloseable {
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
                    .ifPresent(kept ->
                            log.warn("flash.json could not be read and was started anew; the old file is " + kept));
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

    /** Writes an update's models into the free slot of devices that run their firmware already. */
    private static final class ModelFlash {
        private final Log log;
        private final ModelSlots slots;
        private final UpdateFile update;
        private final boolean preverify;

        /**
         * @param build its board has slots, and it has written an update
         * @param preverify whether a device that runs the update's models already is left as it is
         * @throws KilnException if not
         */
        ModelFlash(Log log, ResolvedBuild build, boolean preverify) {
            this.log = log;
            this.slots = build.board()
                    .slots()
                    .orElseThrow(() -> Failure.UPDATE.exception(
                            "the board " + build.board().id() + " has no slots for models",
                            build.board().origin(),
                            "pools.slots in board.yaml",
                            "Flash the whole image: leave kiln.flash.only out"));
            Path file = file(build);
            if (!Files.isRegularFile(file)) {
                throw Failure.UPDATE.exception(
                        "there is no update", file.toString(), "kiln:link with kiln.update slots before this goal");
            }
            this.update = UpdateFile.read(file);
            this.preverify = preverify;
        }

        /** The update that a build writes. */
        static Path file(ResolvedBuild build) {
            return build.spec().update().file(build.spec().layout());
        }

        /** Bytes that a device gets. */
        long bytes() {
            return update.regions().get(0).bytes().size();
        }

        /** Updates one device; nothing is erased before the update is known to suit it. A failure is a result, so that other devices go on. */
        FlashResult flash(FlashRunner runner, Probe probe, FlashProgress progress) {
            long start = System.nanoTime();
            try {
                return flash(runner, probe, progress, start);
            } catch (FlashFailed e) {
                return failed(probe, e.failure(), start);
            }
        }

        private FlashResult flash(FlashRunner runner, Probe probe, FlashProgress progress, long start) {
            List<Bytes> heads = runner.read(probe, heads());
            Optional<InstalledFirmware> firmware = InstalledFirmware.read(heads.get(0));
            if (firmware.isEmpty()) {
                return refused(probe, "the device has no firmware with slots; flash the whole image first", start);
            }
            if (!firmware.get().slots().equals(slots.addresses())
                    || firmware.get().slotBytes() != slots.bytes()) {
                return refused(probe, "the device's firmware has other slots than the board", start);
            }
            DeviceModels held = held(runner, probe, firmware.get(), heads.subList(1, heads.size()));
            if (preverify && held.runs(update)) {
                return new FlashResult(
                        probe, true, bytes(), Duration.ofNanos(System.nanoTime() - start), Optional.empty());
            }
            Optional<String> refusal = held.refusal(update);
            if (refusal.isPresent()) {
                return refused(probe, refusal.get(), start);
            }
            ModelRegion next = held.next(update).orElseThrow();
            FlashResult result = runner.flash(
                    probe, FlashImage.of(List.of(new FlashImage.Segment(next.address(), next.bytes()))), progress);
            if (result.succeeded()) {
                log.info(probe.text() + ": models " + next.version() + " in slot " + (held.free() + 1)
                        + held.version()
                                .map(old -> "; version " + old + " stays in slot " + (2 - held.free()))
                                .orElse(""));
            }
            // The program and the models that run were not touched, whatever happened.
            return new FlashResult(
                    probe,
                    result.unchanged(),
                    result.bytes(),
                    Duration.ofNanos(System.nanoTime() - start),
                    result.failure().map(FlashFailure::besideTheProgram));
        }

        /** The ranges of flash in which the firmware identifies itself, and those of the headers of both slots. */
        private List<Range> heads() {
            List<Range> heads = new ArrayList<>();
            heads.add(new Range(slots.first() - InstalledFirmware.BYTES, InstalledFirmware.BYTES));
            slots.addresses().forEach(address -> heads.add(new Range(address, ModelRegion.HEADER_BYTES)));
            return heads;
        }

        private DeviceModels held(FlashRunner runner, Probe probe, InstalledFirmware firmware, List<Bytes> headers) {
            List<OptionalInt> lengths = headers.stream()
                    .map(header -> ModelRegion.length(header, slots.bytes()))
                    .toList();
            List<Range> regions = new ArrayList<>();
            for (int i = 0; i < lengths.size(); i++) {
                long address = slots.addresses().get(i);
                lengths.get(i).ifPresent(length -> regions.add(new Range(address, length)));
            }
            List<Bytes> contents = regions.isEmpty() ? List.of() : runner.read(probe, regions);
            List<Optional<ModelRegion>> held = new ArrayList<>();
            int next = 0;
            for (OptionalInt length : lengths) {
                held.add(
                        length.isPresent()
                                ? Optional.of(
                                        ModelRegion.read(contents.get(next++).buffer(), probe.text()))
                                : Optional.empty());
            }
            return new DeviceModels(firmware, held);
        }

        private static FlashResult refused(Probe probe, String why, long start) {
            return failed(probe, FlashFailure.refused(why), start);
        }

        private static FlashResult failed(Probe probe, FlashFailure failure, long start) {
            return new FlashResult(probe, false, 0, Duration.ofNanos(System.nanoTime() - start), Optional.of(failure));
        }
    }
}
