// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import io.kiln.device.protocol.ConsoleProtocol;
import io.kiln.device.protocol.ModelSession;
import io.kiln.device.protocol.ModelSession.Model;
import io.kiln.device.rpc.client.RpcClient;
import io.kiln.device.rpc.client.TransportTimeouts;
import io.kiln.device.transport.TcpTransport;
import io.kiln.device.transport.Transport;
import io.kiln.device.transport.serial.SerialConsole.Port;
import io.kiln.flow.device.MonitorStep.BoardConsole;
import io.kiln.flow.resolve.Resolver.ToolchainChoice;
import io.kiln.flow.spec.BoardSpec.DoctorSpec;
import io.kiln.flow.spec.DeviceSpec.ConsoleSpec;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.report.Table;
import io.kiln.report.listing.ToolsReport;
import io.kiln.report.listing.ToolsReport.Lack;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.board.Flashing;
import io.kiln.toolchain.board.RunnerDefinition;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import io.kiln.toolchain.compiler.Toolchains;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Finds out which tools are installed, which of them the board needs, and how to get the missing ones. */
public final class Doctor {
    private static final Duration TO_INSTALL = Duration.ofMinutes(20);
    private static final String APT = "apt-get";
    private static final String DEBUGGER = "gdb-multiarch";
    private static final List<Tool> TOOLS = List.of(
            new Tool("qemu-system-arm", List.of("qemu-system-arm"), "runs images for Arm boards"),
            new Tool("qemu-system-riscv32", List.of("qemu-system-misc"), "runs images for RISC-V boards"),
            new Tool(
                    "arm-none-eabi-gcc",
                    List.of("gcc-arm-none-eabi", "libnewlib-arm-none-eabi"),
                    "toolchain gnu for Arm"),
            new Tool(
                    "riscv64-unknown-elf-gcc",
                    List.of("gcc-riscv64-unknown-elf", "picolibc-riscv64-unknown-elf"),
                    "toolchain gnu for RISC-V"),
            new Tool("cc", List.of("gcc", "libc6-dev"), "toolchain host, unit tests on this computer"),
            new Tool("openocd", List.of("openocd"), "flashes boards"),
            new Tool("make", List.of("make"), "builds target/firmware without Maven"));

    private final Log log;
    private final ToolchainEnvironment environment;
    private final Predicate<Tool> isThere;
    private final DeviceRights rights;

    public Doctor(Log log, ToolchainEnvironment environment) {
        this(log, environment, tool -> tool.path().isPresent(), DeviceRights.here());
    }

    Doctor(Log log, ToolchainEnvironment environment, Predicate<Tool> isThere, DeviceRights rights) {
        this.log = log;
        this.environment = environment;
        this.isThere = isThere;
        this.rights = rights;
    }

    /**
     * Reports the tools for a project, its board and its toolchain, and what else it lacks.
     *
     * @param install whether to install missing tools that it needs
     * @param strict whether whatever is missing is an error
     * @throws KilnException if the package manager is unknown or fails, or, if strict, for all that is missing
     */
    public void run(DoctorSpec spec, boolean install, boolean strict) {
        ToolsReport report = examine(spec);
        List<Tool> missing = missing(report);
        Table table = new Table("tool", "needed", "version", "for");
        report.tools()
                .forEach(tool ->
                        table.row(tool.program(), tool.needed() ? "yes" : "no", tool.version(), tool.purpose()));
        log.answer("Board " + report.board() + ", toolchain " + report.toolchain());
        table.lines().forEach(log::answer);
        if (install && !missing.isEmpty()) {
            install(missing);
            run(spec, false, strict);
            return;
        }
        if (strict) {
            requireAll(report);
        }
        if (!missing.isEmpty()) {
            log.warn("Missing for " + report.board() + "; get it with: " + String.join(" ", report.install()));
        }
        report.lacks().forEach(lack -> log.warn(capital(lack.what()) + ". " + lack.remedy()));
        Optional<Tool> debugger = missingDebugger(spec.board().board());
        debugger.ifPresent(tool -> log.warn("No gdb that kiln:debug could start, which builds do without; get it with: "
                + String.join(" ", command(List.of(tool)))));
        if (missing.isEmpty() && report.lacks().isEmpty() && debugger.isEmpty()) {
            log.answer("Nothing is missing for " + report.board());
        }
    }

    private static String capital(String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }

    /**
     * Finds the tools for a project and its board, what else it lacks, and what a port speaks if the user names one.
     *
     * @throws KilnException if the port cannot be opened
     */
    public ToolsReport report(DoctorSpec spec) {
        ToolsReport report = examine(spec);
        return spec.console()
                .port()
                .map(name -> report.with(new ToolsReport.Port(name, verdict(spec))))
                .orElse(report);
    }

    /**
     * Fails if something is missing.
     *
     * @throws KilnException for each missing tool, and for all else that is lacking
     */
    public static void requireAll(ToolsReport report) {
        Stream<Problem> lacks = report.lacks().stream()
                .map(lack -> Failure.TOOL.problem(lack.what(), "board " + report.board(), "", lack.remedy()));
        Stream<Problem> tools = missing(report).stream()
                .map(tool -> Failure.TOOL.problem(
                        tool.program() + " is missing",
                        "board " + report.board(),
                        "it on the PATH; it " + tool.purpose(),
                        "Get it with: " + String.join(" ", command(List.of(tool)))));
        List<Problem> problems = Stream.concat(tools, lacks).toList();
        if (!problems.isEmpty()) {
            throw new KilnException(problems);
        }
    }

    /** The debugger to get if none is there that knows the board's core. No build needs it, so it is not missing in the strict mode. */
    private Optional<Tool> missingDebugger(Board board) {
        return board.isHost() || debuggers(board).anyMatch(isThere)
                ? Optional.empty()
                : debuggers(board).reduce((first, last) -> last);
    }

    private static Stream<Tool> debuggers(Board board) {
        return DebugStep.debuggers(board).stream()
                .map(name -> new Tool(name, List.of(DEBUGGER), "kiln:debug, instead of each other"));
    }

    private static List<Tool> missing(ToolsReport report) {
        return TOOLS.stream()
                .filter(tool -> report.missing().contains(tool.program()))
                .toList();
    }

    private ToolsReport examine(DoctorSpec spec) {
        Boards boards = spec.board().boards();
        Board board = spec.board().board();
        TargetOptions target = TargetOptions.parse(board.target());
        String toolchain = ToolchainChoice.of(spec.board().toolchain(), board);
        List<Tool> missing = new ArrayList<>();
        List<ToolsReport.Tool> tools = new ArrayList<>();
        tools.add(new ToolsReport.Tool("clang", toolchain.equals("clang"), bundled(), "toolchain clang"));
        for (Tool tool : TOOLS) {
            boolean needed =
                    isNeeded(tool, board, boards.emulated(board), target, toolchain) || isNeeded(tool, spec, target);
            tools.add(new ToolsReport.Tool(tool.program(), needed, tool.version(), tool.purpose()));
            if (needed && !isThere.test(tool)) {
                missing.add(tool);
            }
        }
        if (!board.isHost()) {
            debuggers(board)
                    .map(tool -> new ToolsReport.Tool(tool.program(), false, tool.version(), tool.purpose()))
                    .forEach(tools::add);
        }
        return new ToolsReport(
                board.id(),
                toolchain,
                tools,
                missing.stream().map(Tool::program).toList(),
                missing.isEmpty() ? List.of() : command(missing),
                lacks(spec, board, target, missing),
                null);
    }

    private List<ToolsReport.Lack> lacks(DoctorSpec spec, Board board, TargetOptions target, List<Tool> missing) {
        List<ToolsReport.Lack> lacks = new ArrayList<>();
        boolean hasCompiler = missing.stream().noneMatch(tool -> tool.program().equals(compiler(target)));
        if (needsLibrary(spec, target) && hasCompiler) {
            try {
                Toolchains.requireLibrary(target, environment);
            } catch (KilnException e) {
                e.problems().forEach(problem -> lacks.add(new ToolsReport.Lack(problem.what(), problem.next())));
            }
        }
        if (board.openOcd().isEmpty()) {
            board.programs().stream().limit(1).forEach(usual -> program(usual.definition(), lacks));
        }
        if (board.openOcd().isPresent() || spec.console().port().isPresent()) {
            lacks.addAll(rights.of(board, spec.console(), Port.list()));
        }
        return lacks;
    }

    /** The program that flashes a board without OpenOCD; no package manager is asked for it, because most come from their vendors. */
    private static void program(RunnerDefinition runner, List<ToolsReport.Lack> lacks) {
        List<String> names = runner.program().names();
        if (!names.isEmpty()
                && names.stream().allMatch(name -> Executables.find(name).isEmpty())) {
            lacks.add(new ToolsReport.Lack(
                    String.join(" or ", names) + " is not on the PATH, which flashes the board",
                    runner.program().install()));
        }
    }

    private static boolean needsLibrary(DoctorSpec spec, TargetOptions target) {
        return spec.libc() == Libc.NANO && !target.isHost();
    }

    /** What the project's own code needs beside what the board does. */
    private static boolean isNeeded(Tool tool, DoctorSpec spec, TargetOptions target) {
        return (spec.testsOnHost() && tool.program().equals("cc"))
                || (needsLibrary(spec, target) && tool.program().equals(compiler(target)));
    }

    private static String compiler(TargetOptions target) {
        return target.cpu().startsWith("cortex") ? "arm-none-eabi-gcc" : "riscv64-unknown-elf-gcc";
    }

    /**
     * Says which protocol the program at a port speaks. Only a port that the user names is opened, because others may belong to unrelated
     * devices.
     *
     * @throws KilnException if the port cannot be opened
     */
    public void ask(DoctorSpec spec) {
        spec.console().port().ifPresent(name -> log.answer("Port " + name + ": " + verdict(spec)));
    }

    private static String verdict(DoctorSpec spec) {
        return new PortCheck(new BoardConsole(spec.board().board(), spec.console())::open).verdict();
    }

    private static boolean isNeeded(
            Tool tool, Board board, Optional<Board> runsOn, TargetOptions target, String toolchain) {
        boolean runs = runsOn.filter(other -> other.emulation() instanceof Emulation.Qemu qemu
                        && qemu.program().equals(tool.program()))
                .isPresent();
        return runs
                || (board.openOcd().isPresent() && tool.program().equals("openocd"))
                || (toolchain.equals("host") && tool.program().equals("cc"))
                || (toolchain.equals("gnu") && tool.program().equals(compiler(target)));
    }

    /** The state of the bundled compiler. It is not downloaded here; the first build that needs it does that. */
    private String bundled() {
        if (!Files.isDirectory(environment.home())) {
            return "downloaded by the first build";
        }
        return WholeFiles.list(environment.home()).stream()
                .filter(Files::isDirectory)
                .map(path -> path.getFileName().toString())
                .filter(name -> name.startsWith("llvm-") && !name.endsWith(".part"))
                .findFirst()
                .map(name -> name + " in " + environment.home())
                .orElse("downloaded by the first build");
    }

    private static List<String> command(List<Tool> missing) {
        TreeSet<String> packages = new TreeSet<>();
        missing.forEach(tool -> packages.addAll(tool.packages()));
        List<String> words = new ArrayList<>(List.of(APT, "install", "-y"));
        words.addAll(packages);
        return words;
    }

    private void install(List<Tool> missing) {
        if (Executables.find(APT).isEmpty()) {
            throw Failure.TOOL.exception(
                    "there is no " + APT + " on this computer",
                    "kiln.install",
                    "Debian, Ubuntu or a derivative",
                    "Install by hand: "
                            + String.join(
                                    ", ", missing.stream().map(Tool::program).toList()));
        }
        apt(List.of(APT, "update"));
        apt(command(missing));
        missing.forEach(tool -> log.info("Installed " + tool.program() + ": " + tool.version()));
    }

    private void apt(List<String> words) {
        log.info("Running " + String.join(" ", words));
        ProcessResult result = ProcessRunner.run(
                Command.ofLine(words).with("DEBIAN_FRONTEND", "noninteractive").within(TO_INSTALL));
        if (!result.succeeded()) {
            throw Failure.TOOL.exception(
                    String.join(" ", words) + " failed: " + result.message(),
                    "kiln.install",
                    "root rights, and a network",
                    "Run it by hand to see more");
        }
    }

    /**
     * Finds out what a program at the other end of a port speaks, by asking it.
     *
     * @param port opens the port; each question opens it anew, because a port has one reader
     */
    record PortCheck(Supplier<Transport> port, TransportTimeouts timeouts) {
        private static final Duration TO_START = Duration.ofSeconds(3);
        private static final Duration TO_ANSWER = Duration.ofSeconds(2);

        PortCheck(Supplier<Transport> port) {
            this(port, new TransportTimeouts(TO_ANSWER, TO_START, TO_ANSWER));
        }

        /**
         * The protocol spoken there, as a sentence about the port.
         *
         * @throws KilnException if the port cannot be opened
         */
        String verdict() {
            return rpc().or(this::console).orElse("nothing answers, neither to RPC nor to the console protocol");
        }

        private Optional<String> rpc() {
            try (Transport line = port.get()) {
                return rpc(line);
            }
        }

        private Optional<String> rpc(Transport line) {
            try (RpcClient client = RpcClient.connect(line, timeouts, text -> {})) {
                return Optional.of("speaks RPC, version " + RpcClient.VERSION + ", in packets of up to "
                        + client.mostPacketBytes() + " bytes");
            } catch (KilnException e) {
                // The program does not speak RPC: that is a result, not an error.
                return Optional.empty();
            }
        }

        private Optional<String> console() {
            try (Transport line = port.get()) {
                return console(line);
            }
        }

        private Optional<String> console(Transport line) {
            try (ModelSession session = new ConsoleProtocol(timeouts.sessionEstablished()).connect(line, text -> {})) {
                return Optional.of("speaks the console protocol, not RPC; models "
                        + session.models().stream().map(Model::name).toList());
            } catch (KilnException e) {
                // The program does not speak the console protocol: that is a result, too.
                return Optional.empty();
            }
        }
    }

    /**
     * Whether the user may open the probe and the serial port of a board, on Linux. Elsewhere users may.
     *
     * @param root of the file system
     * @param mayOpen whether the user may read and write a file
     */
    record DeviceRights(Path root, Predicate<Path> mayOpen) {
        private static final List<String> RULES =
                List.of("etc/udev/rules.d", "run/udev/rules.d", "usr/lib/udev/rules.d", "lib/udev/rules.d");

        /** Vendors of probes, by what the names of OpenOCD's scripts begin with. */
        private static final Map<String, String> VENDORS = Map.of("stlink", "0483", "jlink", "1366");

        private static final String NEW_RULES = "sudo udevadm control --reload && sudo udevadm trigger";

        /** Those of this computer. */
        static DeviceRights here() {
            return new DeviceRights(Path.of("/"), path -> Files.isReadable(path) && Files.isWritable(path));
        }

        /** What is lacking for a board's probe and its console. */
        List<Lack> of(Board board, ConsoleSpec console, List<Port> ports) {
            List<Lack> lacks = new ArrayList<>();
            if (!Files.isDirectory(root.resolve("sys/bus/usb"))) {
                return lacks;
            }
            board.openOcd().filter(how -> !how.isVirtual()).ifPresent(how -> probe(board, how, lacks));
            List<String> usb = board.console().map(Board.Console::usb).orElse(List.of());
            Stream<String> found = console.port().isPresent()
                    ? console.port().stream()
                            .filter(port -> TcpTransport.port(port).isEmpty())
                    : ports.stream()
                            .filter(port -> port.usb().filter(usb::contains).isPresent())
                            .map(Port::path);
            found.map(Path::of)
                    .filter(path -> Files.exists(path) && !mayOpen.test(path))
                    .forEach(path -> lacks.add(new Lack(
                            "you may not open the port " + path,
                            "sudo usermod -aG " + group(path) + " $USER, and log in again")));
            return lacks;
        }

        private void probe(Board board, Flashing.OpenOcd how, List<Lack> lacks) {
            TreeSet<String> vendors = new TreeSet<>();
            board.console().map(Board.Console::usb).orElse(List.of()).forEach(id -> vendors.add(id.substring(0, 4)));
            String script = how.interfaceConfig().replaceFirst(".*/", "");
            VENDORS.forEach((begin, vendor) -> {
                if (script.startsWith(begin)) {
                    vendors.add(vendor);
                }
            });
            List<Path> closed =
                    attached(vendors).stream().filter(mayOpen.negate()).toList();
            if (!closed.isEmpty()) {
                lacks.add(new Lack(
                        "you may not open the probe at " + closed.get(0),
                        "Put OpenOCD's 60-openocd.rules into /etc/udev/rules.d, then: " + NEW_RULES));
            } else if (!mayOpen.test(root.resolve("dev/bus/usb")) && !hasRule(vendors)) {
                lacks.add(new Lack(
                        "no udev rule lets you open the probe of " + script,
                        "Install OpenOCD by the system's package manager, or put its 60-openocd.rules into"
                                + " /etc/udev/rules.d, then: "
                                + NEW_RULES));
            }
        }

        /** The device files of all USB devices of some vendors. */
        private List<Path> attached(TreeSet<String> vendors) {
            List<Path> files = new ArrayList<>();
            for (Path device : list(root.resolve("sys/bus/usb/devices"))) {
                if (vendors.contains(text(device.resolve("idVendor")).strip())) {
                    String bus = text(device.resolve("busnum")).strip();
                    String number = text(device.resolve("devnum")).strip();
                    if (bus.matches("[0-9]{1,3}") && number.matches("[0-9]{1,3}")) {
                        files.add(root.resolve(String.format(
                                Locale.ROOT,
                                "dev/bus/usb/%03d/%03d",
                                Integer.parseInt(bus),
                                Integer.parseInt(number))));
                    }
                }
            }
            return files;
        }

        /** Whether a rule names one of the vendors, or, if none is known, comes with OpenOCD. */
        private boolean hasRule(TreeSet<String> vendors) {
            return RULES.stream()
                    .flatMap(folder -> list(root.resolve(folder)).stream())
                    .filter(file -> file.toString().endsWith(".rules"))
                    .anyMatch(file -> vendors.isEmpty()
                            ? file.getFileName().toString().contains("openocd")
                            : vendors.stream().anyMatch(vendor -> text(file).contains("\"" + vendor + "\"")));
        }

        private static List<Path> list(Path folder) {
            return Files.isDirectory(folder) ? WholeFiles.list(folder) : List.of();
        }

        /** The text of a small file of the system; empty if there is none, or the user may not read it. */
        private static String text(Path file) {
            try {
                return Files.isRegularFile(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "";
            } catch (IOException e) {
                return "";
            }
        }

        private static String group(Path port) {
            try {
                return Files.readAttributes(port, PosixFileAttributes.class)
                        .group()
                        .getName();
            } catch (IOException | UnsupportedOperationException e) {
                return "dialout";
            }
        }
    }

    /**
     * A system program that a build may need.
     *
     * @param program its name on the PATH
     * @param packages the Debian packages that contain it
     * @param purpose what it is used for
     */
    record Tool(String program, List<String> packages, String purpose) {
        private static final Duration PATIENCE = Duration.ofSeconds(20);

        Tool {
            packages = List.copyOf(packages);
        }

        /** The program's path, if it is installed. */
        Optional<Path> path() {
            return Executables.find(program);
        }

        /** The first line of its version output; {@code missing} if it is not installed. */
        String version() {
            return path().map(Tool::ask).orElse("missing");
        }

        private static String ask(Path executable) {
            ProcessResult result = ProcessRunner.run(
                    Command.of(executable.toString(), "--version").within(PATIENCE));
            return result.message().lines().findFirst().orElse("installed, version unknown");
        }
    }
}
