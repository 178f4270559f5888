// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.flash.DriveRunner;
import io.kiln.device.flash.DriveRunner.Uf2Drives;
import io.kiln.device.flash.FlashFailure.Kind;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.OpenOcdRunner;
import io.kiln.device.flash.Probe;
import io.kiln.device.flash.ProgramRunner;
import io.kiln.flow.spec.DeviceSpec.FlashSpec;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Flashing.Program;
import io.kiln.toolchain.board.RunnerDefinition;
import io.kiln.toolchain.board.RunnerDefinition.Runners;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * The program, other than OpenOCD, that flashes a board: the one that the user names, or the board's first if the board has no way by OpenOCD.
 *
 * @param spec how to flash it
 * @param logs folder for the program's output
 */
record ProgramChoice(Board board, FlashSpec spec, Path logs) {
    private static final String OPENOCD = "openocd";
    private static final String PROBE = "kiln.probe";
    private static final String RUNNER = "kiln.flash.runner";
    private static final String ALL = "all";
    private static final Duration DRIVE_STAYS = Duration.ofSeconds(5);

    /**
     * Finds the program and the devices.
     *
     * @return the runner; empty if OpenOCD or a server flashes the board
     * @throws KilnException if there is no such runner, it lacks something, or the choice of devices is ambiguous
     */
    Optional<FlashRunner> open() {
        return chosen().map(how -> {
            OptionalLong family = board.building().uf2Family();
            RunnerDefinition definition = how.definition();
            if (definition.procedure().steps().isEmpty()) {
                String boardId = definition.values(how.values()).get("boardId");
                return new DriveRunner(drives(), boardId, family, DRIVE_STAYS);
            }
            Path program = ProgramRunner.find(definition, spec.program());
            return new ProgramRunner(
                    how,
                    program,
                    devices(definition),
                    family,
                    new OpenOcdRunner.Manner(spec.limit(), spec.preverify(), logs));
        });
    }

    private Optional<Program> chosen() {
        Optional<String> asked = spec.runner();
        if (asked.isEmpty()) {
            return board.openOcd().isPresent()
                    ? Optional.empty()
                    : board.programs().stream().findFirst();
        }
        if (asked.get().equals(OPENOCD)) {
            return Optional.empty();
        }
        return board.programs().stream()
                .filter(each -> each.definition().id().equals(asked.get()))
                .findFirst()
                .or(() -> Optional.of(builtIn(asked.get())));
    }

    /** A runner of which the board says nothing. */
    private Program builtIn(String name) {
        SortedMap<String, RunnerDefinition> all = Runners.builtIn();
        RunnerDefinition definition = all.get(name);
        if (definition == null) {
            String known = OPENOCD + ", " + String.join(", ", all.keySet());
            throw Failure.CONFIG.exception(
                    "the board " + board.id() + " has no runner `" + name + "`",
                    RUNNER,
                    known + ", or " + Runners.COMMAND + " of a board that has one");
        }
        String missing = definition.parameters().stream()
                .filter(each -> each.value().isEmpty())
                .map(each -> each.name() + " (" + each.what() + ")")
                .collect(Collectors.joining(", "));
        if (!missing.isEmpty()) {
            throw Failure.BOARD.exception(
                    "the board does not say what " + definition.title() + " must know",
                    board.origin(),
                    "flash.programs." + name + " with " + missing);
        }
        return new Program(definition, Map.of());
    }

    private Optional<String> asked() {
        return spec.probe().filter(text -> !text.isBlank());
    }

    private List<Probe> devices(RunnerDefinition definition) {
        RunnerDefinition.ProbeName naming = definition.probe();
        if (asked().isEmpty()) {
            if (naming.required()) {
                throw Failure.CONFIG.exception(
                        definition.title() + " must be told which device to flash", PROBE, naming.what());
            }
            return List.of(new Probe.Any());
        }
        List<Probe> probes = new ArrayList<>();
        for (String name : asked().get().split(",", -1)) {
            boolean isAll = name.equals(ALL);
            if (isAll || !name.strip().matches(naming.pattern())) {
                throw Failure.CONFIG.exception(
                        isAll
                                ? "only OpenOCD and UF2 drives know all that is connected"
                                : "not a valid name of a device: '" + name.strip() + "'",
                        PROBE,
                        naming.what());
            }
            probes.add(new Probe.Serial(name.strip()));
        }
        return probes.stream().distinct().toList();
    }

    private List<Probe> drives() {
        if (asked().isPresent() && !asked().get().equals(ALL)) {
            return List.of(Probe.parse(asked().get()));
        }
        List<Path> found = Uf2Drives.find(Uf2Drives.MOUNTS);
        if (found.isEmpty() || (found.size() > 1 && asked().isEmpty())) {
            throw Failure.DEVICE.exception(
                    found.isEmpty()
                            ? "no UF2 drive was found"
                            : "several UF2 drives are there: "
                                    + found.stream().map(Path::toString).collect(Collectors.joining(", ")),
                    PROBE,
                    "the folder of a drive with INFO_UF2.TXT",
                    found.isEmpty()
                            ? "Bring the board into its boot loader, and mount its drive"
                            : Kind.SEVERAL_PROBES.remedy());
        }
        return found.stream()
                .<Probe>map(path -> new Probe.Serial(path.toString()))
                .toList();
    }
}
