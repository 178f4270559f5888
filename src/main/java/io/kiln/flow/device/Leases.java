// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import io.kiln.device.lease.Lease;
import io.kiln.device.probe.Faults;
import io.kiln.device.probe.VirtualProbe;
import io.kiln.device.probe.VirtualProbe.VirtualChip;
import io.kiln.device.probe.VirtualProbe.VirtualChip.FlashContent;
import io.kiln.device.projectapi.ProjectServer;
import io.kiln.device.transport.Transport;
import io.kiln.flow.device.MonitorStep.BoardConsole;
import io.kiln.flow.device.ProjectStep.BoardProject;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Acquires devices: the first source that supports the kind is used. To add a source, add a class and an entry in the
 * list.
 *
 * @param use the board, and what will run on it
 * @param device how to reach it
 * @param limit time after which a program started by Kiln is stopped
 * @param log file for the program's output
 */
public record Leases(BoardUse use, DeviceSpec device, Duration limit, Path log) {
    private static final List<Source> SOURCES = List.of(ProjectLease::of, VirtualLease::of, SerialLease::of);

    @FunctionalInterface
    private interface Source {
        /** A device; empty if another source has those of the board. */
        Optional<Lease> lease(Leases wanted);
    }

    /**
     * Acquires a device without writing to it.
     *
     * @throws KilnException if there is no device, or the choice is ambiguous
     */
    public Lease take() {
        return SOURCES.stream()
                .flatMap(source -> source.lease(this).stream())
                .findFirst()
                .orElseThrow(() -> Failure.DEVICE.exception(
                        "there is no device", "board " + use.board().id()));
    }

    /** Runners for devices connected to this computer. */
    FlashRunners flashRunners() {
        return new FlashRunners(Log.QUIET, use, device.flash());
    }

    /** A board connected to this computer: flashed through a probe, with a serial port as its console. */
    private static final class SerialLease implements Lease {
        private final Leases wanted;
        private final String port;
        private final BoardConsole line;
        private final ConsoleLog log;

        private SerialLease(Leases wanted, String port, BoardConsole line) {
            this.wanted = wanted;
            this.port = port;
            this.line = line;
            this.log = new ConsoleLog(wanted.log());
        }

        /**
         * The board whose console is the selected port.
         *
         * @throws io.kiln.base.KilnException if no port matches, or more than one
         */
        static Optional<Lease> of(Leases wanted) {
            BoardConsole console =
                    new BoardConsole(wanted.use().board(), wanted.device().console());
            String port = console.portBeside(wanted.device().flash().probe());
            return Optional.of(new SerialLease(wanted, port, console));
        }

        @Override
        public String name(Optional<Probe> probe) {
            String by = probe.map(each -> ", probe " + each.text()).orElse("");
            return wanted.use().board().id() + by + ", console " + port;
        }

        @Override
        public FlashRunner flashRunner() {
            return wanted.flashRunners().open();
        }

        /** Opens the port before flashing: the flash runner resets the board at its end, and the banner follows at once. */
        @Override
        public Transport start(Runnable bring) {
            Transport console = line.open(port);
            try {
                bring.run();
                return console;
            } catch (RuntimeException e) {
                console.close();
                throw e;
            }
        }

        @Override
        public Consumer<String> log() {
            return log;
        }

        @Override
        public void close() {
            log.write();
        }
    }

    /** A virtual board: its flash content boots in the board's emulator. */
    private static final class VirtualLease implements Lease {
        private final Leases wanted;
        private final VirtualBoards boards;
        private final Emulator emulator;

        private VirtualLease(Leases wanted) {
            this.wanted = wanted;
            this.boards = VirtualBoards.of(wanted.use().layout());
            this.emulator = new Emulator(
                    wanted.use().board(),
                    wanted.limit(),
                    Optional.of(wanted.log()),
                    wanted.use().semihosting());
        }

        /**
         * A lease, if the board is virtual.
         *
         * @throws KilnException if the board has no emulator
         */
        static Optional<Lease> of(Leases wanted) {
            Board board = wanted.use().board();
            Optional<String> probe = wanted.device().flash().probe();
            if (board.openOcd()
                    .filter(how -> VirtualBoards.areMeant(how, probe))
                    .isEmpty()) {
                return Optional.empty();
            }
            if (!(board.emulation() instanceof Emulation.Qemu)) {
                throw Failure.DEVICE.exception(
                        "the virtual board has no emulator to boot its flash content",
                        board.origin(),
                        "emulator: {qemu: …, machine: …}");
            }
            return Optional.of(new VirtualLease(wanted));
        }

        private String name() {
            return boards.names(wanted.device().flash().probe()).get(0);
        }

        @Override
        public String name(Optional<Probe> probe) {
            return wanted.use().board().id() + ", probe " + name() + ": its flash content in " + emulator.name();
        }

        @Override
        public FlashRunner flashRunner() {
            return wanted.flashRunners().open();
        }

        /** Flashes before it starts the emulator, which boots the flash content. */
        @Override
        public Transport start(Runnable bring) {
            bring.run();
            Path content = boards.file(name());
            if (!Files.isRegularFile(content)) {
                throw Failure.DEVICE.exception(
                        "the virtual board '" + name() + "' has not been flashed yet",
                        content.toString(),
                        "its flash content",
                        "Remove kiln.flash.skip");
            }
            return emulator.boot(content);
        }

        /** No log: the emulator writes it itself. */
        @Override
        public Consumer<String> log() {
            return text -> {};
        }

        /** Does nothing: closing the transport ends the emulator. */
        @Override
        public void close() {}
    }

    /** A board that a Project API server flashes, and holds the line to. */
    private static final class ProjectLease implements Lease {
        private final Leases wanted;
        private final BoardProject project;
        private final ConsoleLog log;
        private Optional<ProjectServer> server = Optional.empty();

        private ProjectLease(Leases wanted, BoardProject project) {
            this.wanted = wanted;
            this.project = project;
            this.log = new ConsoleLog(wanted.log());
        }

        /**
         * A lease, if a server flashes the board.
         *
         * @throws KilnException if the build asks for another protocol than RPC: the server's images have microTVM's RPC server
         */
        static Optional<Lease> of(Leases wanted) {
            return wanted.use()
                    .build()
                    .flatMap(build -> build.board().projectApi().map(how -> {
                        if (build.spec().verify().over() != VerifyOver.RPC) {
                            throw Failure.DEVICE.exception(
                                    "the board is flashed by a Project API server, whose images speak"
                                            + " microTVM's RPC only",
                                    build.board().origin(),
                                    "kiln.verify.over rpc",
                                    "Set kiln.verify.over to rpc, and in flash.projectApi.options what makes"
                                            + " the image host-driven");
                        }
                        return new ProjectLease(wanted, new BoardProject(build, how));
                    }));
        }

        @Override
        public String name(Optional<Probe> probe) {
            return wanted.use().board().id() + ", Project API server in "
                    + project.how().directory();
        }

        @Override
        public FlashRunner flashRunner() {
            return wanted.flashRunners().open();
        }

        @Override
        public Transport start(Runnable bring) {
            bring.run();
            ProjectServer started = project.start();
            server = Optional.of(started);
            return started.openTransport(project.how().options()).transport();
        }

        @Override
        public Consumer<String> log() {
            return log;
        }

        @Override
        public void close() {
            server.ifPresent(ProjectServer::close);
            log.write();
        }
    }

    /** Collects a program's console output, up to a million characters, for a log file. */
    private static final class ConsoleLog implements Consumer<String> {
        private static final int MOST = 1 << 20;

        private final Path file;
        private final StringBuilder text = new StringBuilder();

        ConsoleLog(Path file) {
            this.file = file;
        }

        @Override
        public synchronized void accept(String piece) {
            if (text.length() < MOST) {
                text.append(piece);
            }
        }

        synchronized void write() {
            WholeFiles.write(file, text.toString());
        }
    }

    /**
     * A board in use, with what its use needs.
     *
     * @param board its description
     * @param layout where scripts, logs and the flash content of virtual boards lie
     * @param semihosting whether images in an emulator may open files and start programs on this computer
     * @param build the build whose image runs on it; empty for images of other builds
     */
    public record BoardUse(Board board, Layout layout, boolean semihosting, Optional<ResolvedBuild> build) {
        public static BoardUse of(ResolvedBuild build) {
            return new BoardUse(
                    build.board(), build.spec().layout(), build.spec().semihosting(), Optional.of(build));
        }
    }

    /** Boards that exist only while they are flashed; a file keeps each board's flash content until the next time. */
    static final class VirtualBoards implements AutoCloseable {
        private static final String DEFAULT_NAME = "virtual";
        private static final String ALL = "all";
        private static final String CONTENT = ".bin";
        private static final String WHERE = "kiln.probe.faults";

        private final Path folder;
        private final List<Attached> attached = new ArrayList<>();

        /** A board that is switched on. */
        private record Attached(String name, VirtualChip chip, VirtualProbe probe) {}

        private VirtualBoards(Path folder) {
            this.folder = folder;
        }

        /** The virtual boards of a build; their flash content is kept in {@code virtual/<name>.bin} in its folder of reports. */
        static VirtualBoards of(BuildSpec.Layout layout) {
            return new VirtualBoards(layout.reports().resolve("virtual"));
        }

        /** Whether the board is virtual and the probe does not name a server elsewhere. */
        static boolean areMeant(Flashing.OpenOcd how, Optional<String> probe) {
            return how.isVirtual()
                    && probe.filter(text -> text.startsWith("tcp:")).isEmpty();
        }

        /**
         * The names of the selected boards.
         *
         * @param probe names separated by commas; {@code all} for those flashed before; empty for a single one
         * @throws KilnException if a name is invalid
         */
        List<String> names(Optional<String> probe) {
            List<String> known = probe.filter(ALL::equals).isPresent() ? known() : List.of();
            return known.isEmpty() ? given(probe) : known;
        }

        private List<String> known() {
            if (!Files.isDirectory(folder)) {
                return List.of();
            }
            return WholeFiles.list(folder).stream()
                    .map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(CONTENT))
                    .map(file -> file.substring(0, file.length() - CONTENT.length()))
                    .sorted()
                    .toList();
        }

        private static List<String> given(Optional<String> probe) {
            String list =
                    probe.filter(text -> !text.isBlank() && !text.equals(ALL)).orElse(DEFAULT_NAME);
            Set<String> names = new LinkedHashSet<>();
            for (String each : list.split(",", -1)) {
                String name = each.strip();
                if (!name.matches("[A-Za-z0-9_-]{1,60}")) {
                    throw Failure.CONFIG.exception(
                            "not a valid name of a virtual board: '" + name + "'",
                            "kiln.probe",
                            "letters, digits, hyphens and underscores, or tcp:<host>:<port>");
                }
                names.add(name);
            }
            return List.copyOf(names);
        }

        /**
         * Switches boards on.
         *
         * @param faults faults to inject: {@code [<board>/]<fault>}, separated by commas; without a board name, a fault applies to all
         */
        List<Probe> start(List<String> names, Optional<String> faults) {
            Map<String, Faults> byName = faults(faults.orElse(""), names);
            List<Probe> probes = new ArrayList<>();
            for (String name : names) {
                Path file = file(name);
                VirtualChip chip = Files.exists(file) ? VirtualChip.of(FlashContent.load(file)) : VirtualChip.erased();
                VirtualProbe probe = VirtualProbe.start(chip, byName.get(name));
                attached.add(new Attached(name, chip, probe));
                probes.add(new Probe.Virtual(name, new Probe.Remote("127.0.0.1", probe.port())));
            }
            return probes;
        }

        /** The flash content of a board; the file does not exist before the board is flashed. */
        Path file(String name) {
            return folder.resolve(name + CONTENT);
        }

        /** Switches the boards off and saves their flash content. */
        @Override
        public void close() {
            for (Attached each : attached) {
                each.probe().close();
                each.chip().flash().save(file(each.name()));
            }
        }

        /**
         * The faults of each board.
         *
         * @param names the boards' names
         * @throws KilnException if there is no such board or no such fault
         */
        private static Map<String, Faults> faults(String text, List<String> names) {
            Map<String, StringBuilder> texts = new LinkedHashMap<>();
            names.forEach(name -> texts.put(name, new StringBuilder()));
            for (String each : text.split(",", -1)) {
                int slash = each.indexOf('/');
                List<String> meant =
                        slash < 0 ? names : List.of(each.substring(0, slash).strip());
                for (String name : meant) {
                    if (!texts.containsKey(name)) {
                        throw Failure.DEVICE.exception(
                                "there is no virtual board '" + name + "' for the fault",
                                WHERE,
                                "one of " + String.join(", ", names),
                                "Name the boards with kiln.probe");
                    }
                    texts.get(name).append(each.substring(slash + 1)).append(',');
                }
            }
            Map<String, Faults> faults = new LinkedHashMap<>();
            texts.forEach((name, list) -> faults.put(name, Faults.parse(list.toString(), WHERE)));
            return faults;
        }
    }
}
