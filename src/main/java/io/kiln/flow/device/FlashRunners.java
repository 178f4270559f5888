// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.OpenOcd;
import io.kiln.device.flash.OpenOcdRunner;
import io.kiln.device.flash.Probe;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.FlashSpec;
import io.kiln.toolchain.board.Board;
import java.util.List;
import java.util.Optional;

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

    /** A kind of runner. */
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
                .orElseThrow(() -> new KilnException(Failure.BOARD.problem(
                        "the board " + board().id() + " has no flash runner", board().origin(), "flash", "")));
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
            throw new KilnException(Failure.BOARD.problem(
                    "faults can be injected into virtual boards only",
                    "kiln.probe.faults",
                    "a board such as virtual-stm32f405",
                    "Remove it"));
        }
    }
}
