// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Bytes;
import io.kiln.base.Extensions;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.device.flash.FlashFailure;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.FlashRunner.FlashImage;
import io.kiln.device.flash.FlashRunner.FlashResult;
import io.kiln.device.flash.OpenOcdRunner;
import io.kiln.device.flash.OpenOcdRunner.OpenOcd;
import io.kiln.device.flash.Probe;
import io.kiln.device.flash.Probe.UsbDevice;
import io.kiln.flow.device.Leases.BoardUse;
import io.kiln.flow.device.Leases.VirtualBoards;
import io.kiln.flow.device.ProjectStep.BoardProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.spi.ImageRunner;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Flash runners on this computer: the first kind that supports the board is used. To add a kind, add a method and an
 * entry in the list.
 *
 * @param log gets messages about what a runner does besides flashing
 * @param use the board, and where it keeps the flash contents of virtual boards, scripts and logs
 * @param spec how to flash it
 */
public record FlashRunners(Log log, BoardUse use, FlashSpec spec) {
    private static final List<Kind> KINDS = List.of(
            FlashRunners::projectApi,
            FlashRunners::service,
            FlashRunners::program,
            FlashRunners::virtual,
            FlashRunners::openOcd);

    @FunctionalInterface
    private interface Kind {
        /** A runner for the requested devices; empty if the board is of another kind. */
        Optional<FlashRunner> open(FlashRunners wanted);
    }

    /** Whether any kind of runner supports the board, connected or not. */
    public static boolean areFor(Board board) {
        return board.flashing().isPresent();
    }

    /**
     * Opens the devices that the user selected.
     *
     * @throws KilnException if the tool or a script is missing, no device is connected, or the selection is ambiguous
     */
    public FlashRunner open() {
        return KINDS.stream()
                .flatMap(kind -> kind.open(this).stream())
                .findFirst()
                .orElseThrow(() -> Failure.BOARD.exception(
                        "the board " + board().id() + " has no flash runner", board().origin(), "flash"));
    }

    private Board board() {
        return use.board();
    }

    private BuildSpec.Layout layout() {
        return use.layout();
    }

    private Optional<FlashRunner> projectApi() {
        return board().projectApi()
                .flatMap(how -> use.build().map(build -> {
                    requireNoFaults();
                    return new ProjectRunner(log, new BoardProject(build, how));
                }));
    }

    private Optional<FlashRunner> program() {
        return new ProgramChoice(board(), spec, layout().reports()).open().map(program -> {
            requireNoFaults();
            return program;
        });
    }

    private Optional<FlashRunner> service() {
        return board().flashService().map(how -> {
            requireNoFaults();
            return ServiceRunner.open(how, spec.probe(), FlashRunners.class.getClassLoader());
        });
    }

    private Optional<FlashRunner> virtual() {
        if (board().openOcd()
                .filter(how -> VirtualBoards.areMeant(how, spec.probe()))
                .isEmpty()) {
            return Optional.empty();
        }
        OpenOcd openOcd = tool();
        VirtualBoards boards = VirtualBoards.of(layout());
        return Optional.of(VirtualRunner.start(
                boards, boards.names(spec.probe()), spec.faults(), probes -> runner(openOcd, probes)));
    }

    private Optional<FlashRunner> openOcd() {
        return board().openOcd().map(how -> {
            OpenOcd openOcd = tool();
            requireNoFaults();
            return runner(openOcd, new ProbeChoice(spec.probe()).choose(how));
        });
    }

    private OpenOcd tool() {
        return OpenOcd.find(spec.openOcd())
                .orElseThrow(() -> OpenOcd.absent(spec.openOcd()).exception("kiln:flash"));
    }

    private FlashRunner runner(OpenOcd openOcd, List<Probe> probes) {
        return new OpenOcdRunner(
                openOcd,
                board(),
                BoardScripts.write(board(), layout()),
                probes,
                new OpenOcdRunner.Manner(spec.limit(), spec.preverify(), layout().reports()));
    }

    private void requireNoFaults() {
        if (spec.faults().filter(text -> !text.isBlank()).isPresent()) {
            throw Failure.BOARD.exception(
                    "faults can be injected into virtual boards only",
                    "kiln.probe.faults",
                    "a board such as virtual-stm32f405",
                    "Remove it");
        }
    }

    /** Flashes a board by the Project API server that its profile names. */
    private record ProjectRunner(Log log, BoardProject project) implements FlashRunner {
        @Override
        public String tool() {
            return "the Project API server in " + project.how().directory();
        }

        /** Any probe: only the server knows which one it uses. */
        @Override
        public List<Probe> probes() {
            return List.of(new Probe.Any());
        }

        @Override
        public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
            long start = System.nanoTime();
            Optional<FlashFailure> failure = Optional.empty();
            try {
                project.flash(log);
            } catch (KilnException e) {
                failure = Optional.of(FlashFailure.ofServer(e.getMessage()));
            }
            return new FlashResult(probe, false, image.size(), Duration.ofNanos(System.nanoTime() - start), failure);
        }

        /** Does nothing: the server has ended already. */
        @Override
        public void close() {}
    }

    /** Flashes virtual boards: switches them on, writes them with the real tool through their virtual probes, and switches them off. */
    private record VirtualRunner(VirtualBoards boards, FlashRunner runner) implements FlashRunner {
        /**
         * Switches boards on.
         *
         * @param boards closed with this runner
         * @param names the boards to switch on
         * @param faults faults to inject, see {@link VirtualBoards}
         * @param tool creates the runner that writes through their probes
         */
        static VirtualRunner start(
                VirtualBoards boards,
                List<String> names,
                Optional<String> faults,
                Function<List<Probe>, FlashRunner> tool) {
            try {
                return new VirtualRunner(boards, tool.apply(boards.start(names, faults)));
            } catch (RuntimeException e) {
                boards.close();
                throw e;
            }
        }

        @Override
        public String tool() {
            return runner.tool();
        }

        @Override
        public List<Probe> probes() {
            return runner.probes();
        }

        @Override
        public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
            return runner.flash(probe, image, progress);
        }

        @Override
        public List<Bytes> read(Probe probe, List<Range> ranges) {
            return runner.read(probe, ranges);
        }

        @Override
        public void close() {
            try (boards) {
                runner.close();
            }
        }
    }

    /**
     * A service in a dependency of the plugin flashes devices.
     *
     * @param service what others wrote
     * @param how its options
     * @param probes the devices that the user selected
     */
    record ServiceRunner(ImageRunner service, Flashing.Service how, List<Probe> probes) implements FlashRunner {
        private static final String ALL = "all";

        /**
         * The service that a board names.
         *
         * @param asked {@code kiln.probe}
         * @param from where services are looked for
         * @throws KilnException if there is no such service or probe, or several and none is asked for
         */
        static FlashRunner open(Flashing.Service how, Optional<String> asked, ClassLoader from) {
            ImageRunner service = Extensions.services(ImageRunner.class, "runner of images", from).stream()
                    .filter(each -> guarded(each, "state its name", each::name).equals(how.name()))
                    .findFirst()
                    .orElseThrow(() -> Failure.EXTENSION.exception(
                            "there is no runner of images `" + how.name() + "`",
                            "flash.service.name of the board",
                            "a service of io.kiln.spi.ImageRunner with this name",
                            "Add the dependency that has it to the plugin"));
            List<String> found = guarded(service, "list its probes", () -> List.copyOf(service.probes(how.options())));
            List<String> chosen = asked.filter(text -> !text.isBlank())
                    .filter(text -> !text.equals(ALL))
                    .map(text -> Arrays.stream(text.split(",", -1))
                            .map(String::strip)
                            .toList())
                    .orElse(found);
            boolean isAmbiguous =
                    chosen.size() > 1 && asked.filter(text -> !text.isBlank()).isEmpty();
            if (chosen.isEmpty() || isAmbiguous || !found.containsAll(chosen)) {
                throw Failure.DEVICE.exception(
                        found.isEmpty() ? "no probe is connected" : "the probe is not clear",
                        "kiln.probe",
                        found.isEmpty() ? "" : "all, or some of " + String.join(", ", found),
                        found.isEmpty() ? "Connect one" : "Set kiln.probe");
            }
            return new ServiceRunner(
                    service, how, chosen.stream().<Probe>map(Probe.Serial::new).toList());
        }

        @Override
        public String tool() {
            return guarded(service, "state its tool", service::tool);
        }

        /** What it throws is the result of one device, so that others go on. */
        @Override
        public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
            long start = System.nanoTime();
            List<ImageRunner.Block> blocks = image.segments().stream()
                    .map(segment -> new ImageRunner.Block(
                            segment.address(), segment.content().buffer()))
                    .toList();
            Optional<FlashFailure> failure = Optional.empty();
            try {
                guarded(service, "flash " + probe.text(), () -> {
                    service.flash(probe.text(), blocks, how.options());
                    return blocks;
                });
            } catch (KilnException e) {
                failure = Optional.of(FlashFailure.ofService(e.getMessage()));
            }
            return new FlashResult(probe, false, image.size(), Duration.ofNanos(System.nanoTime() - start), failure);
        }

        private static <T> T guarded(ImageRunner service, String what, Supplier<T> call) {
            return Extensions.call(
                    call,
                    why -> Failure.EXTENSION.exception(
                            "it could not " + what + ": " + why, "runner of images " + Extensions.name(service)));
        }

        /** Does nothing: a service holds no device between calls. */
        @Override
        public void close() {}
    }

    /** Selects the probes to use. It never guesses between several. */
    static final class ProbeChoice {
        private static final String ALL = "all";

        private final Optional<String> asked;
        private final Path usb;

        ProbeChoice(Optional<String> asked) {
            this(asked, UsbDevice.SYSFS);
        }

        /** A choice among the devices of a list; see {@link UsbDevice#list}. */
        ProbeChoice(Optional<String> asked, Path usb) {
            this.asked = asked.filter(text -> !text.isBlank());
            this.usb = usb;
        }

        /**
         * The selected probes, at least one.
         *
         * @throws KilnException if none was named and several are connected; if all are wanted and none is connected, or
         * the system cannot list them
         */
        List<Probe> choose(Flashing.OpenOcd board) {
            if (asked.isPresent() && !asked.get().equals(ALL)) {
                return named(asked.get());
            }
            Optional<List<UsbDevice>> found =
                    UsbDevice.list(usb).flatMap(devices -> Probes.of(board.interfaceConfig(), devices));
            if (asked.isPresent()) {
                return all(board, found);
            }
            if (found.isPresent() && found.get().size() > 1) {
                throw Failure.DEVICE.exception(
                        FlashFailure.Kind.SEVERAL_PROBES.meaning() + ": " + texts(found.get()),
                        "kiln.probe",
                        "one of them",
                        FlashFailure.Kind.SEVERAL_PROBES.remedy());
            }
            // OpenOCD may know probes that the list lacks, and otherwise gives the best message about what is missing.
            return found.filter(list -> list.size() == 1)
                    .map(list -> List.of(Probes.probe(list.get(0))))
                    .orElse(List.of(new Probe.Any()));
        }

        private static List<Probe> named(String list) {
            Set<Probe> probes = new LinkedHashSet<>();
            for (String each : list.split(",", -1)) {
                probes.add(Probe.parse(each.strip()));
            }
            return new ArrayList<>(probes);
        }

        private static List<Probe> all(Flashing.OpenOcd board, Optional<List<UsbDevice>> found) {
            if (found.isEmpty()) {
                throw Failure.DEVICE.exception(
                        "this system does not list which probes for " + board.interfaceConfig() + " are connected",
                        "kiln.probe",
                        "serial numbers separated by commas",
                        "Name them with -Dkiln.probe=<serial>,<serial>");
            }
            if (found.get().isEmpty()) {
                throw Failure.DEVICE.exception(
                        FlashFailure.Kind.NO_PROBE.meaning(),
                        "kiln.probe",
                        "a probe for " + board.interfaceConfig(),
                        FlashFailure.Kind.NO_PROBE.remedy());
            }
            return found.get().stream().map(Probes::probe).toList();
        }

        private static String texts(List<UsbDevice> devices) {
            return devices.stream().map(UsbDevice::text).collect(Collectors.joining("; "));
        }
    }

    /**
     * Finds the USB devices that are probes for an interface script of OpenOCD. OpenOCD cannot list them, but the system
     * can. The ids come from the scripts and from vendors' lists.
     */
    public static final class Probes {
        private static final int ST = 0x0483;
        private static final int SEGGER = 0x1366;
        private static final Set<Integer> ST_LINKS =
                Set.of(0x3744, 0x3748, 0x374b, 0x374d, 0x374e, 0x374f, 0x3752, 0x3753, 0x3754, 0x3755, 0x3757);

        private Probes() {}

        /** The probes for an interface script, in the order of the devices; empty if Kiln does not know the ids of its probes. */
        public static Optional<List<UsbDevice>> of(String interfaceConfig, List<UsbDevice> devices) {
            String script = interfaceConfig.substring(interfaceConfig.lastIndexOf('/') + 1);
            return rule(script).map(rule -> devices.stream().filter(rule).toList());
        }

        private static Optional<Predicate<UsbDevice>> rule(String script) {
            if (script.startsWith("stlink")) {
                return Optional.of(device -> device.vendor() == ST && ST_LINKS.contains(device.product()));
            }
            if (script.startsWith("jlink")) {
                return Optional.of(device -> device.vendor() == SEGGER);
            }
            if (script.equals("cmsis-dap.cfg")) {
                return Optional.of(
                        device -> device.name().toUpperCase(Locale.ROOT).contains("CMSIS-DAP"));
            }
            return Optional.empty();
        }

        /** The probe of a device: by serial number, or by its place if it has none. */
        public static Probe probe(UsbDevice device) {
            return device.serial().isEmpty()
                    ? new Probe.Location(device.location())
                    : new Probe.Serial(device.serial());
        }
    }

    /** Writes a board's own Tcl to files, for OpenOCD. */
    public static final class BoardScripts {
        private BoardScripts() {}

        /** The folders that OpenOCD searches before its own; empty if the board has no Tcl. */
        public static List<Path> write(Board board, BuildSpec.Layout layout) {
            Path folder = layout.reports().resolve("openocd").toAbsolutePath();
            WholeFiles.clear(folder);
            WholeFiles.write(folder, board.scripts());
            return board.scripts().isEmpty() ? List.of() : List.of(folder);
        }
    }
}
