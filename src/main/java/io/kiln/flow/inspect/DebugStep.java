// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.device.emulator.Emulator;
import io.kiln.device.flash.FlashTarget;
import io.kiln.device.flash.Probe;
import io.kiln.flow.device.FlashRunners.BoardScripts;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.process.Command.ShellWords;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.report.DebugLaunch;
import io.kiln.report.DebugLaunch.DebugRun;
import io.kiln.report.DebugLaunch.DebugTasks;
import io.kiln.report.Json;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.board.Flashing;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Writes scripts for gdb and configurations for Visual Studio Code and CLion, for the probe and for QEMU. */
public final class DebugStep {
    private static final String TASKS = "tasks.json";
    private static final String SERVER = "127.0.0.1:3333";
    private static final List<String> ARM_DEBUGGERS = List.of("arm-none-eabi-gdb", "gdb-multiarch");
    private static final List<String> RISCV_DEBUGGERS = List.of("riscv64-unknown-elf-gdb", "gdb-multiarch");

    private final Log log;
    private final ResolvedBuild build;
    private final String openOcd;
    private final Optional<String> probe;
    private final Path folder;

    public DebugStep(Log log, ResolvedBuild build, String openOcd, Optional<String> probe) {
        this.log = log;
        this.build = build;
        this.openOcd = openOcd;
        this.probe = probe;
        this.folder = build.spec().layout().reports().resolve("debug");
    }

    /**
     * Writes {@code launch.json}, a task that starts QEMU, and a gdb script and a run configuration for each way to debug, and logs how to use
     * them. Nothing is started.
     *
     * @throws KilnException if the board has neither a probe nor an emulator
     */
    public void run() {
        Board board = build.board();
        WholeFiles.clear(folder);
        List<DebugLaunch.Configuration> configurations = new ArrayList<>();
        board.openOcd().filter(how -> !how.isVirtual()).ifPresent(how -> configurations.add(byProbe(how)));
        if (board.emulation() instanceof Emulation.Qemu) {
            configurations.add(byQemu());
        }
        if (configurations.isEmpty()) {
            throw Failure.DEVICE.exception(
                    "nothing to debug with: the board has neither a probe nor an emulator of its own",
                    board.origin(),
                    "flash or emulator in board.yaml",
                    board.isHost() ? "Debug it like any program of this computer: gdb " + elf() : "");
        }
        Path launch = folder.resolve("launch.json");
        Json.write(launch, new DebugLaunch("0.2.0", configurations));
        boolean hasTask = Files.isRegularFile(folder.resolve(TASKS));
        log.answer("Visual Studio Code with the extension Cortex-Debug: copy " + launch
                + (hasTask ? " and " + TASKS + ", which starts QEMU, to .vscode" : " to .vscode"));
        log.answer("CLion: copy " + folder.resolve("kiln-*.run.xml")
                + " to .run, and start the server before the debugger"
                + svd().map(file -> "; " + file + " describes the registers").orElse(""));
    }

    private DebugLaunch.Configuration byProbe(Flashing.OpenOcd how) {
        FlashTarget target = new FlashTarget(
                how,
                BoardScripts.write(build.board(), build.spec().layout()),
                probe.map(Probe::parse).orElse(new Probe.Any()));
        Path config = folder.resolve("openocd.cfg");
        WholeFiles.write(config, String.join("\n", target.configuration(folder.toAbsolutePath())) + "\n");
        explain(
                "probe",
                List.of(openOcd, "-f", config.toString()),
                List.of("monitor reset halt", "load", "monitor reset halt"));
        return DebugLaunch.Configuration.openOcd(
                title("probe"),
                inWorkspace(openOcd),
                inWorkspace(config.toString()),
                inWorkspace(elf().toString()),
                debugger(),
                places(),
                svd().map(file -> inWorkspace(file.toString())).orElse(""));
    }

    private DebugLaunch.Configuration byQemu() {
        List<String> waiting = List.of("-S", "-gdb", "tcp:" + SERVER);
        Emulator emulator = new Emulator(
                build.board(), Duration.ZERO, Optional.empty(), build.spec().semihosting());
        List<String> line = emulator.line(elf(), waiting);
        explain("qemu", line, List.of());
        List<String> task = new ArrayList<>(line);
        // Who shares the files has QEMU elsewhere; one that is not on the path has no other name.
        Path program = Path.of(line.get(0));
        String name = program.getFileName().toString();
        Executables.find(name).filter(program::equals).ifPresent(found -> task.set(0, name));
        DebugTasks.Task server = DebugTasks.Task.server(title("QEMU"), inWorkspace(ShellWords.join(task)));
        Json.write(folder.resolve(TASKS), new DebugTasks("2.0.0", List.of(server)));
        return DebugLaunch.Configuration.external(
                title("QEMU"), SERVER, inWorkspace(elf().toString()), debugger(), places());
    }

    /** The file by which editors show the chip's registers, written beside the configurations; empty if the board has none. */
    private Optional<Path> svd() {
        return build.board().files().entrySet().stream()
                .filter(file -> file.getKey().endsWith(".svd"))
                .findFirst()
                .map(file -> {
                    Path copy = folder.resolve(file.getKey());
                    WholeFiles.write(copy, file.getValue().toArray());
                    return copy;
                });
    }

    private List<String> places() {
        return sources().stream().map(place -> inWorkspace(place.toString())).toList();
    }

    /** A text whose paths in the project are those of the editor's workspace, so that the files serve whoever has the project. */
    private String inWorkspace(String text) {
        return in(DebugLaunch.WORKSPACE, text);
    }

    private String in(String place, String text) {
        String project =
                build.spec().layout().project().toAbsolutePath().normalize().toString();
        return text.replaceAll(Pattern.quote(project) + "(?=[/\\\\'\"]|$)", Matcher.quoteReplacement(place));
    }

    private String title(String way) {
        return "Kiln: " + build.board().id() + " (" + way + ")";
    }

    private Path elf() {
        return build.spec().layout().image("elf").toAbsolutePath();
    }

    private void explain(String way, List<String> server, List<String> afterConnecting) {
        Path script = folder.resolve(way + ".gdb");
        List<String> lines = new ArrayList<>();
        // gdb searches the last one first.
        sources().forEach(place -> lines.add("directory " + quoted(place)));
        lines.add("target extended-remote " + SERVER);
        lines.addAll(afterConnecting);
        lines.addAll(List.of("tbreak main", "continue"));
        WholeFiles.write(script, String.join("\n", lines) + "\n");
        DebugRun run = new DebugRun(title(way), SERVER, in(DebugRun.PROJECT, elf().toString()));
        WholeFiles.write(folder.resolve("kiln-" + way + ".run.xml"), run.xml());
        log.answer("Debugging by " + way + ": start the server, then the debugger in another terminal");
        log.answer("  " + ShellWords.join(server));
        log.answer("  " + ShellWords.join(List.of(debugger(), "-x", script.toString(), elf().toString())));
    }

    /** Folders to which names in debug information are relative: the C project's, and the user's own, such as {@code src/main/c/main.c}. */
    private List<Path> sources() {
        return Stream.of(build.spec().layout().firmware(), build.spec().layout().project())
                .map(place -> place.toAbsolutePath().normalize())
                .toList();
    }

    /** A path quoted for gdb, which splits unquoted text at blanks and treats a backslash as an escape. */
    private static String quoted(Path path) {
        return '"' + path.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private String debugger() {
        List<String> candidates = debuggers(build.board());
        return candidates.stream()
                .filter(name -> Executables.find(name).isPresent())
                .findFirst()
                .orElse(candidates.get(0));
    }

    /** The programs that can debug a board, the preferred one first. */
    static List<String> debuggers(Board board) {
        return board.target().contains("-mcpu=cortex") ? ARM_DEBUGGERS : RISCV_DEBUGGERS;
    }
}
