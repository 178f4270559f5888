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
import io.kiln.device.projectapi.ProjectServer;
import io.kiln.device.transport.Transport;
import io.kiln.flow.device.MonitorStep.BoardConsole;
import io.kiln.flow.device.ProjectStep.BoardProject;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.VerifyOver;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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
}
