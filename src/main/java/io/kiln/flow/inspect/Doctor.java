// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problem;
import io.kiln.flow.device.BoardConsole;
import io.kiln.flow.resolve.ToolchainChoice;
import io.kiln.flow.spec.BoardSpec;
import io.kiln.flow.spec.ConsoleSpec;
import io.kiln.process.Command;
import io.kiln.process.Executables;
import io.kiln.process.ProcessResult;
import io.kiln.process.ProcessRunner;
import io.kiln.report.Table;
import io.kiln.report.listing.ToolsReport;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Finds out which tools are installed, which of them the board needs, and how to get the missing ones. */
public final class Doctor {
    private static final Duration TO_INSTALL = Duration.ofMinutes(20);
    private static final String APT = "apt-get";
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
            new Tool("cc", List.of("gcc", "libc6-dev"), "toolchain host"),
            new Tool("openocd", List.of("openocd"), "flashes boards"),
            new Tool("make", List.of("make"), "builds target/firmware without Maven"));

    private final Log log;
    private final ToolchainEnvironment environment;
    private final Predicate<Tool> isThere;

    public Doctor(Log log, ToolchainEnvironment environment) {
        this(log, environment, tool -> tool.path().isPresent());
    }

    Doctor(Log log, ToolchainEnvironment environment, Predicate<Tool> isThere) {
        this.log = log;
        this.environment = environment;
        this.isThere = isThere;
    }

    /**
     * Reports the tools for a board and its toolchain.
     *
     * @param install whether to install missing tools that the board needs
     * @param strict whether a missing tool is an error
     * @throws KilnException if the package manager is unknown or fails, or, if strict, for missing tools
     */
    public void run(BoardSpec spec, boolean install, boolean strict) {
        ToolsReport report = examine(spec);
        List<Tool> missing = missing(report);
        Table table = new Table("tool", "needed", "version", "for");
        report.tools()
                .forEach(tool ->
                        table.row(tool.program(), tool.needed() ? "yes" : "no", tool.version(), tool.purpose()));
        log.answer("Board " + report.board() + ", toolchain " + report.toolchain());
        table.lines().forEach(log::answer);
        if (missing.isEmpty()) {
            log.answer("Nothing is missing for " + report.board());
        } else if (install) {
            install(missing);
        } else if (strict) {
            requireAll(report);
        } else {
            log.warn("Missing for " + report.board() + "; get it with: " + String.join(" ", report.install()));
        }
    }

    /**
     * Finds the tools for a board and its toolchain, and what a port speaks if the user names one.
     *
     * @throws KilnException if the port cannot be opened
     */
    public ToolsReport report(BoardSpec spec, ConsoleSpec port) {
        ToolsReport report = examine(spec);
        return port.port()
                .map(name -> report.with(new ToolsReport.Port(name, verdict(spec, port))))
                .orElse(report);
    }

    /**
     * Fails if something is missing.
     *
     * @throws KilnException for each missing tool
     */
    public static void requireAll(ToolsReport report) {
        List<Problem> problems = missing(report).stream()
                .map(tool -> Failure.TOOL.problem(
                        tool.program() + " is missing",
                        "board " + report.board(),
                        "it on the PATH; it " + tool.purpose(),
                        "Get it with: " + String.join(" ", command(List.of(tool)))))
                .toList();
        if (!problems.isEmpty()) {
            throw new KilnException(problems);
        }
    }

    private static List<Tool> missing(ToolsReport report) {
        return TOOLS.stream()
                .filter(tool -> report.missing().contains(tool.program()))
                .toList();
    }

    private ToolsReport examine(BoardSpec spec) {
        Boards boards = spec.boards();
        Board board = spec.board();
        TargetOptions target = TargetOptions.parse(board.target());
        String toolchain = ToolchainChoice.of(spec.toolchain(), board);
        List<Tool> missing = new ArrayList<>();
        List<ToolsReport.Tool> tools = new ArrayList<>();
        tools.add(new ToolsReport.Tool("clang", toolchain.equals("clang"), bundled(), "toolchain clang"));
        for (Tool tool : TOOLS) {
            boolean needed = isNeeded(tool, board, boards.emulated(board), target, toolchain);
            tools.add(new ToolsReport.Tool(tool.program(), needed, tool.version(), tool.purpose()));
            if (needed && !isThere.test(tool)) {
                missing.add(tool);
            }
        }
        return new ToolsReport(
                board.id(),
                toolchain,
                tools,
                missing.stream().map(Tool::program).toList(),
                missing.isEmpty() ? List.of() : command(missing),
                null);
    }

    /**
     * Says which protocol the program at a port speaks. Only a port that the user names is opened, because others may belong to unrelated
     * devices.
     *
     * @throws KilnException if the port cannot be opened
     */
    public void ask(BoardSpec spec, ConsoleSpec port) {
        port.port().ifPresent(name -> log.answer("Port " + name + ": " + verdict(spec, port)));
    }

    private static String verdict(BoardSpec spec, ConsoleSpec port) {
        return new PortCheck(new BoardConsole(spec.board(), port)::open).verdict();
    }

    private static boolean isNeeded(
            Tool tool, Board board, Optional<Board> runsOn, TargetOptions target, String toolchain) {
        boolean runs = runsOn.filter(other -> other.emulation() instanceof Emulation.Qemu qemu
                        && qemu.program().equals(tool.program()))
                .isPresent();
        boolean isArm = target.cpu().startsWith("cortex");
        return runs
                || (board.openOcd().isPresent() && tool.program().equals("openocd"))
                || (toolchain.equals("host") && tool.program().equals("cc"))
                || (toolchain.equals("gnu")
                        && tool.program().equals(isArm ? "arm-none-eabi-gcc" : "riscv64-unknown-elf-gcc"));
    }

    /** The state of the bundled compiler. It is not downloaded here; the first build that needs it does that. */
    private String bundled() {
        if (!Files.isDirectory(environment.home())) {
            return "downloaded by the first build";
        }
        try (Stream<Path> entries = Files.list(environment.home())) {
            return entries.filter(Files::isDirectory)
                    .map(path -> path.getFileName().toString())
                    .filter(name -> name.startsWith("llvm-") && !name.endsWith(".part"))
                    .sorted()
                    .findFirst()
                    .map(name -> name + " in " + environment.home())
                    .orElse("downloaded by the first build");
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot list", environment.home(), e);
        }
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
            throw new KilnException(Failure.TOOL.problem(
                    "there is no " + APT + " on this computer",
                    "kiln.install",
                    "Debian, Ubuntu or a derivative",
                    "Install by hand: "
                            + String.join(
                                    ", ", missing.stream().map(Tool::program).toList())));
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
            throw new KilnException(Failure.TOOL.problem(
                    String.join(" ", words) + " failed: " + result.message(),
                    "kiln.install",
                    "root rights, and a network",
                    "Run it by hand to see more"));
        }
    }
}
