// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import io.kiln.base.Failure;
import io.kiln.base.WholeFiles;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.lease.Lease;
import io.kiln.device.projectapi.ApiServer.ProjectHandler;
import io.kiln.device.projectapi.MethodFailure;
import io.kiln.device.projectapi.ServerInfo;
import io.kiln.device.projectapi.ServerInfo.ProjectOption.OptionValues;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import io.kiln.flow.Flow;
import io.kiln.flow.build.FirmwareSteps;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.device.FlashRunners;
import io.kiln.flow.device.Leases;
import io.kiln.flow.device.Leases.BoardUse;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.Resolver;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.report.BuildReport;
import io.kiln.report.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** What Kiln does as a Project API server: in a template it generates projects; in a project it builds, flashes and connects. */
final class KilnProject implements ProjectHandler {
    private static final String PLATFORM = "kiln";

    /** How long a program that Kiln started may run at most. */
    private static final Duration LONGEST_LIFE = Duration.ofHours(12);

    private final Path directory;
    private final LineLog log;
    private Optional<HeldTransport> held = Optional.empty();

    /**
     * @param directory the server's folder
     */
    KilnProject(Path directory, LineLog log) {
        this.directory = directory;
        this.log = log;
    }

    private boolean isTemplate() {
        return !Files.exists(directory.resolve(ProjectFolder.ARCHIVE));
    }

    @Override
    public ServerInfo info(String tvmVersion) {
        ProjectSettings settings = ProjectSettings.read(directory);
        Path boards = new Layout(directory, directory, "").userBoards();
        List<String> ids = settings.boardSources().boards(boards).ids();
        Optional<String> archive = Optional.of(directory.resolve(ProjectFolder.ARCHIVE))
                .filter(Files::exists)
                .map(Path::toString);
        return new ServerInfo(PLATFORM, isTemplate(), archive, ProjectOptions.of(ids));
    }

    @Override
    public void generate(Path archive, Path runtime, Path project, OptionValues options) {
        if (!isTemplate()) {
            throw Failure.API.exception("this is a generated project", directory.toString(), "a template's folder");
        }
        if (Files.exists(project)) {
            throw Failure.API.exception(
                    "the project exists already", project.toString(), "a new folder", "Choose another");
        }
        options.check(info("").options(), ProjectOptions.GENERATE);
        ProjectSettings settings = ProjectSettings.read(directory).with(options, Set.of());
        try {
            ProjectFolder.generate(directory, project, archive, settings, flow(settings, options));
        } catch (RuntimeException e) {
            WholeFiles.remove(project);
            throw e;
        }
    }

    @Override
    public void build(OptionValues options) {
        ProjectFolder project = project();
        OptionValues values = values(project, options, ProjectOptions.BUILD);
        flow(project.settings(), values).build(project.spec(), DeviceSpec.USUAL);
        values.number(ProjectOptions.WORKSPACE).ifPresent(bytes -> requireRoom(project.spec(), bytes));
    }

    /** Requires that the board has room for some more bytes of RAM; a board on this computer has enough in any case. */
    private static void requireRoom(BuildSpec spec, long bytes) {
        Path report = spec.layout().reports().resolve(FirmwareSteps.REPORT);
        BuildReport.Ram ram = Json.read(report, BuildReport.class).ram();
        long left = ram.available() - ram.total();
        if (ram.available() > 0 && left < bytes) {
            throw Failure.API.exception(
                    "the image leaves " + left + " bytes of RAM",
                    "board " + spec.board(),
                    bytes + " bytes, as workspace_size_bytes has it",
                    "Ask for less, or choose another board");
        }
    }

    @Override
    public void flash(OptionValues options) {
        ProjectFolder project = project();
        OptionValues values = values(project, options, ProjectOptions.FLASH);
        Path image = project.spec().layout().image("elf");
        if (!Files.isRegularFile(image)) {
            throw Failure.API.exception("nothing was built", image.toString(), "build before this");
        }
        flow(project.settings(), values).flash(project.spec(), device(values).flash());
    }

    @Override
    public TransportTimeouts openTransport(OptionValues options) {
        closeTransport();
        ProjectFolder project = project();
        OptionValues values = values(project, options, ProjectOptions.OPEN);
        BuildSpec spec = project.spec();
        ResolvedBuild build = new Resolver(project.settings().environment(log)).resolve(spec);
        Path text = spec.layout().reports().resolve("transport.log");
        if (FlashRunners.areFor(build.board()) || build.runsOn().isEmpty()) {
            Lease lease = new Leases(BoardUse.of(build), device(values), LONGEST_LIFE, text).take();
            held = Optional.of(new HeldTransport(started(lease), lease::close));
            return timeouts(values, false);
        }
        RunnableImage image = RunnableImage.asBuilt(log, build);
        Emulator emulator = new Emulator(image.board(), LONGEST_LIFE, Optional.of(text), false);
        held = Optional.of(new HeldTransport(emulator.boot(image.file()), () -> {}));
        SessionLimits limits = limits(values);
        return image.board().isHost() && limits.equals(SessionLimits.USUAL)
                ? new TransportTimeouts(Duration.ZERO, Duration.ZERO, Duration.ZERO)
                : timeouts(values, true);
    }

    private static SessionLimits limits(OptionValues values) {
        return new SessionLimits(seconds(values, ProjectOptions.START), seconds(values, ProjectOptions.ANSWER));
    }

    private static Optional<Duration> seconds(OptionValues values, String option) {
        return values.number(option)
                .map(seconds -> Duration.ofSeconds(Math.max(1, Math.min(LONGEST_LIFE.toSeconds(), seconds))));
    }

    /** Where nothing is set, an answer may take as long as TVM's servers let it, and longer on a busy computer. */
    private static TransportTimeouts timeouts(OptionValues values, boolean isEmulated) {
        return TransportTimeouts.of(limits(values), isEmulated);
    }

    /** Starts the program of a leased board, which was flashed before. */
    private static Transport started(Lease lease) {
        try {
            return lease.start(() -> {});
        } catch (RuntimeException e) {
            lease.close();
            throw e;
        }
    }

    @Override
    public void closeTransport() {
        held.ifPresent(HeldTransport::close);
        held = Optional.empty();
    }

    @Override
    public byte[] read(int most, Duration time) {
        return open().read(most, time);
    }

    @Override
    public int write(byte[] bytes, int from, Duration time) {
        return open().write(bytes, from, time);
    }

    private HeldTransport open() {
        return held.orElseThrow(() -> MethodFailure.transportClosed("open_transport comes first"));
    }

    private ProjectFolder project() {
        if (isTemplate()) {
            throw Failure.API.exception(
                    "this is a template", directory.toString(), "a generated project", "Generate a project from it");
        }
        return new ProjectFolder(directory, ProjectSettings.read(directory));
    }

    private OptionValues values(ProjectFolder project, OptionValues given, String method) {
        given.check(info("").options(), method);
        return project.options(given);
    }

    private Flow flow(ProjectSettings settings, OptionValues options) {
        LineLog chosen = log.verbose(options.flag(ProjectOptions.VERBOSE));
        return new Flow(chosen, settings.environment(chosen));
    }

    /** How to flash the board and talk to it. A project of this server is for the bench, so its RPC server may be flashed. */
    private static DeviceSpec device(OptionValues options) {
        FlashSpec usual = FlashSpec.USUAL;
        FlashSpec flash = new FlashSpec(
                options.text(ProjectOptions.SERIAL_NUMBER),
                new FlashSpec.Tool(options.text(ProjectOptions.OPENOCD).orElse(usual.openOcd()), usual.limit()),
                usual.content(),
                usual.journal(),
                usual.faults(),
                true,
                usual.bar());
        ConsoleSpec console = new ConsoleSpec(options.text(ProjectOptions.PORT), Optional.empty(), Optional.empty());
        return new DeviceSpec(flash, true, console);
    }

    @Override
    public void close() {
        closeTransport();
    }

    /**
     * An open connection that is read and written with time limits. Two threads of its own wait for the line: one reads
     * ahead, one writes what was taken, both by a limited number of bytes.
     */
    private static final class HeldTransport implements AutoCloseable {
        private static final int BLOCK_BYTES = 4096;
        private static final int MOST_BLOCKS = 16;
        private static final long TO_DRAIN_MILLIS = 1000;
        private static final byte[] NO_MORE = new byte[0];

        /** Shortest wait for bytes, so that those which are there are found even if nobody waits. */
        private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

        private final Transport transport;
        private final Runnable release;
        private final TimedInput input;
        private final BlockingQueue<byte[]> taken = new ArrayBlockingQueue<>(MOST_BLOCKS);
        private final Thread writer = new Thread(this::write, "transport-writer");
        private volatile boolean broken;

        /**
         * @param transport closed with this
         * @param release what to do after that
         */
        HeldTransport(Transport transport, Runnable release) {
            this.transport = transport;
            this.release = release;
            this.input = new TimedInput(transport.input());
            writer.setDaemon(true);
            writer.start();
        }

        private void write() {
            try {
                for (byte[] block = taken.take(); block.length > 0; block = taken.take()) {
                    transport.output().write(block);
                    transport.output().flush();
                }
            } catch (IOException e) {
                // The program ended, or the cable is gone: the next call tells.
                broken = true;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /**
         * Waits for bytes.
         *
         * @return at most {@code most}; empty if none came in time
         * @throws MethodFailure if the program ended
         */
        byte[] read(int most, Duration time) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            int value = input.read(input.now() + Math.max(time.toNanos(), LEAST_NANOS));
            long soon = input.now() + LEAST_NANOS;
            while (value >= 0) {
                bytes.write(value);
                value = bytes.size() < most ? input.read(soon) : TimedBytes.LATE;
            }
            if (value == TimedBytes.END && bytes.size() == 0) {
                throw closed();
            }
            return bytes.toByteArray();
        }

        /**
         * Takes bytes to send.
         *
         * @return how many were taken in time
         * @throws MethodFailure if the program ended
         */
        int write(byte[] bytes, int from, Duration time) {
            int at = from;
            long deadline = System.nanoTime() + Math.max(time.toNanos(), LEAST_NANOS);
            while (at < bytes.length) {
                if (broken) {
                    throw closed();
                }
                int end = Math.min(bytes.length, at + BLOCK_BYTES);
                if (!offer(Arrays.copyOfRange(bytes, at, end), deadline - System.nanoTime())) {
                    break;
                }
                at = end;
            }
            return at - from;
        }

        private boolean offer(byte[] block, long nanos) {
            try {
                return taken.offer(block, Math.max(0, nanos), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        private MethodFailure closed() {
            return MethodFailure.transportClosed(transport
                    .explained(Failure.API.exception("the board's program ended", "console"))
                    .getMessage());
        }

        /** Sends what was taken, as far as the line takes it soon, and disconnects. */
        @Override
        public void close() {
            try {
                if (offer(NO_MORE, TimeUnit.MILLISECONDS.toNanos(TO_DRAIN_MILLIS))) {
                    writer.join(TO_DRAIN_MILLIS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                writer.interrupt();
                input.close();
                transport.close();
                release.run();
            }
        }
    }
}
